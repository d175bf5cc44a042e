"""Money: what a budget just pays for, what is refused, and totals that come back from the disk."""

from __future__ import annotations

import pytest

from cams import InputError, Selector
from cams.online.ledger import affordable

VOTES = [0, 1]


def make(**options) -> Selector:
    return Selector(**{"models": ["a", "b"], "num_classes": 2, "learner": "hedge", **options})


def test_nothing_is_spent_at_first():
    selector = make(budget=5)
    assert (selector.spent, selector.committed, selector.pending) == (0, 0, [])


def test_a_budget_stretches_by_a_millionth_of_a_millionth(tmp_path):
    selector = make(budget=1e12)
    assert not selector.step(VOTES, cost=1e12 + 2).query
    assert selector.step(VOTES, cost=1e12 + 1).query
    selector.save(tmp_path / "state.npz")
    assert Selector.load(tmp_path / "state.npz").committed == 1e12 + 1


@pytest.mark.parametrize(
    ("budget", "cost", "labels"),
    [(1, 0.1, 10), (1, 0.3, 3), (0.9, 0.3, 3), (0, 1, 0), (2, 3, 0), (1e100, 1e-100, 2**62)],
)
def test_how_many_labels_a_budget_pays_for(budget, cost, labels):
    assert affordable(float(budget), float(cost)) == labels


@pytest.mark.parametrize(
    ("ticket", "why"),
    [
        (1, "its label was not queried, or has been handed in or dropped"),
        (2, "its label was not queried, or has been handed in or dropped"),
        (0, "there is no such round"),
        (3, "there is no such round"),
    ],
)
def test_a_ticket_that_stands_for_nothing(ticket, why):
    selector = make(budget=1)
    selector.label(selector.step(VOTES).ticket, 0)
    assert not selector.step(VOTES).query
    for call in (selector.drop, lambda t: selector.label(t, 0)):
        with pytest.raises(InputError) as error:
            call(ticket)
        assert str(error.value) == f"ticket {ticket} is not pending: {why}"


def test_without_a_budget_any_sum_of_costs_comes_back(tmp_path):
    selector = make(cost=1e100)
    for _ in range(2):
        selector.label(selector.step(VOTES).ticket, 0)
    selector.save(tmp_path / "state.npz")
    assert Selector.load(tmp_path / "state.npz").spent == 2e100


def test_a_sum_that_no_stream_could_cost_is_refused():
    arrays = make()._arrays()

    def spending(amount: int) -> Selector:
        header = str(arrays["selector"]).replace('"spent": [0, 1]', f'"spent": [{amount}, 1]')
        return Selector._from_arrays({**arrays, "selector": header})

    # 2^64 labels at 1e100 are 1.8e119.
    assert spending(10**119).spent == 1e119
    with pytest.raises(InputError, match="more than the budget"):
        spending(3 * 10**119)


def test_cents_are_shown():
    arrays = make(budget=0.5)._arrays()
    header = str(arrays["selector"]).replace('"spent": [0, 1]', '"spent": [3, 4]')
    with pytest.raises(InputError, match=r"^spent and pending costs are 0\.75, more than the budget$"):
        Selector._from_arrays({**arrays, "selector": header})
