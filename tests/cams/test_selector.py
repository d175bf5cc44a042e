"""The online API: same decisions as a replay, late labels, budgets, and a state that survives the disk."""

from __future__ import annotations

import numpy as np
import pytest

import cams
from cams import Bundle, InputError, Selector
from cams.randomness import stream_order

ONLINE = [name for name in cams.LEARNERS if not cams.LEARNERS[name].needs_hindsight]
K, N, C, T = 4, 3, 3, 60
MODELS, POLICIES = ["a", "b", "c", "d"], ["p", "q", "r"]


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    rng = np.random.default_rng(7)
    labels = rng.integers(0, C, 80)
    predictions = np.where(rng.random((80, K)) < 0.6, labels[:, None], rng.integers(0, C, (80, K)))
    return Bundle(predictions=predictions, labels=labels, advice=rng.dirichlet(np.ones(K), (80, N)), num_classes=C)


def make(learner: str = "cams", **options) -> Selector:
    return Selector(
        **{"models": MODELS, "policies": POLICIES, "num_classes": C, "horizon": T, "learner": learner, **options}
    )


def run(selector: Selector, bundle: Bundle, rows: np.ndarray) -> list:
    decisions = []
    for row in rows:
        decision = selector.step(bundle.predictions[row], bundle.advice[row])
        if decision.query:
            selector.label(decision.ticket, int(bundle.labels[row]))
        decisions.append(decision)
    return decisions


@pytest.mark.parametrize("learner", ONLINE)
def test_online_run_is_the_first_realization_of_a_replay(learner, bundle):
    result = cams.replay(bundle, [learner], horizon=T, budgets=[10], realizations=1, seed=5)
    rows = stream_order(5, 0, bundle.num_rows, T)
    decisions = run(make(learner, budget=10, seed=5), bundle, rows)
    mistakes = sum(d.prediction != bundle.labels[row] for d, row in zip(decisions, rows, strict=True))
    assert (mistakes, sum(d.query for d in decisions)) == (result.loss[0, 0, 0], result.queries[0, 0, 0])


@pytest.mark.parametrize("learner", ONLINE)
@pytest.mark.parametrize("cut", [0, 1, 17])
def test_saved_and_loaded_continues_as_if_never_saved(learner, cut, bundle, tmp_path):
    rows = np.arange(T)
    whole = run(make(learner, budget=20, seed=1), bundle, rows)
    selector = make(learner, budget=20, seed=1)
    first = run(selector, bundle, rows[:cut])
    selector.save(tmp_path / "state.npz")
    again = Selector.load(tmp_path / "state.npz", models=MODELS, policies=POLICIES)
    assert first + run(again, bundle, rows[cut:]) == whole


def test_pending_tickets_survive_the_disk(bundle, tmp_path):
    def answer_late(selector: Selector, saves: bool) -> list:
        asked = {}
        for row in range(20):
            decision = selector.step(bundle.predictions[row], bundle.advice[row])
            if decision.query:
                asked[decision.ticket] = row
        assert asked
        assert selector.pending == list(asked)
        if saves:
            selector.save(tmp_path / "state.npz")
            selector = Selector.load(tmp_path / "state.npz")
        for ticket, row in asked.items():
            selector.label(ticket, int(bundle.labels[row]))
        return run(selector, bundle, np.arange(20, T))

    assert answer_late(make(seed=2), saves=True) == answer_late(make(seed=2), saves=False)


def test_a_late_label_changes_the_weights_as_an_early_one_does(bundle):
    early, late = make(learner="hedge"), make(learner="hedge")
    tickets = []
    for row in range(5):
        decision = early.step(bundle.predictions[row], bundle.advice[row])
        early.label(decision.ticket, int(bundle.labels[row]))
        tickets.append(late.step(bundle.predictions[row], bundle.advice[row]).ticket)
    for row, ticket in reversed(list(enumerate(tickets))):
        late.label(ticket, int(bundle.labels[row]))
    np.testing.assert_allclose(early._learner.state()["L"], late._learner.state()["L"])


def test_pending_labels_count_against_the_budget_until_dropped(bundle):
    selector = make("hedge", budget=2)
    tickets = [selector.step(bundle.predictions[row], bundle.advice[row]).ticket for row in range(2)]
    assert not selector.step(bundle.predictions[2], bundle.advice[2]).query
    selector.drop(tickets[0])
    assert selector.step(bundle.predictions[3], bundle.advice[3]).query
    assert selector.committed == 2
    assert selector.spent == 0


def test_costs_add_up_and_never_exceed_the_budget(bundle):
    selector = make("hedge", budget=1.0, cost=0.1)
    queries = [d.query for d in run(selector, bundle, np.arange(30))]
    assert sum(queries) == 10
    assert selector.spent == pytest.approx(1.0)
    dear = make("hedge", budget=3, cost=1)
    assert not dear.step(bundle.predictions[0], bundle.advice[0], cost=4).query
    assert dear.step(bundle.predictions[1], bundle.advice[1], cost=3).query


def test_labels_that_were_not_asked_for_are_refused(bundle):
    selector = make(budget=0)
    decision = selector.step(bundle.predictions[0], bundle.advice[0])
    with pytest.raises(InputError, match=r"ticket 1 is not pending: its label was not queried"):
        selector.label(decision.ticket, 0)
    with pytest.raises(InputError, match="no such round"):
        selector.label(99, 0)
    buyer = make("hedge")
    ticket = buyer.step(bundle.predictions[0], bundle.advice[0]).ticket
    with pytest.raises(InputError, match=r"label is 3, expected a class in 0\.\.2"):
        buyer.label(ticket, 3)
    buyer.label(ticket, 0)
    with pytest.raises(InputError, match="not pending"):
        buyer.label(ticket, 0)


def test_another_model_list_is_refused_with_both_lists_named(tmp_path):
    make().save(tmp_path / "state.npz")
    with pytest.raises(InputError, match=r"\['a', 'b', 'c', 'd'\].*\['x', 'b', 'c', 'd'\]"):
        Selector.load(tmp_path / "state.npz", models=["x", "b", "c", "d"])


@pytest.mark.parametrize(
    ("predictions", "advice", "message"),
    [
        ([0, 1], None, r"predictions has shape \(2,\), expected \(4,\)"),
        ([0, 1, 2, 3], np.full((3, 4), 0.25), r"is 3, expected a class in 0\.\.2"),
        ([0, 1, 2, 0], np.full((2, 4), 0.25), r"advice has shape \(2, 4\), expected \(3, 4\)"),
        ([0, 1, 2, 0], np.full((3, 4), 0.2), r"advice\[0, 0\] sums to 0\.8, expected 1 \(policy 'p'\)"),
        ([0, 1, 2, 0], np.full((3, 4), np.nan), "is nan, expected a probability"),
    ],
)
def test_bad_instances_are_refused(predictions, advice, message):
    with pytest.raises(InputError, match=message):
        make().step(predictions, advice)


def test_bad_selectors_are_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be run online"):
        make("oracle")
    with pytest.raises(InputError, match="needs a horizon"):
        make("cams_adversarial", horizon=None)
    with pytest.raises(InputError, match="did you mean 'cams'"):
        make("camz")
    with pytest.raises(InputError, match="budget is -1"):
        make(budget=-1)
    with pytest.raises(InputError, match="models has the name 'a' twice"):
        Selector(models=["a", "b", "a"], num_classes=2)
    (tmp_path / "junk.npz").write_bytes(b"\x80\x04junk")
    with pytest.raises(InputError, match="not a readable"):
        Selector.load(tmp_path / "junk.npz")
