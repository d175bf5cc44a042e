"""The online API: same decisions as a replay, late labels, budgets, and a state that survives the disk."""

from __future__ import annotations

import copy
import math
import pickle

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


@pytest.mark.parametrize(
    ("predictions", "advice", "message"),
    [
        ([0, 1], None, r"predictions has shape \(2,\), expected \(4,\)"),
        ([0, 1, 2, 3], np.full((3, 4), 0.25), r"^predictions\[3\] is 3, expected a class in 0\.\.2"),
        ([0, -1, 2, 0], np.full((3, 4), 0.25), r"^predictions\[1\] is -1, expected a class"),
        ([0, 1, 2.5, 0], np.full((3, 4), 0.25), r"^predictions\[2\] is 2\.5, expected a class in"),
        ([0, 1, 2**40, 0], np.full((3, 4), 0.25), r"^predictions\[2\] is 1099511627776, expected a class"),
        (
            np.array([0, 1, 2**64 - 1, 0], np.uint64),
            np.full((3, 4), 0.25),
            r"^predictions\[2\] is 18446744073709551615",
        ),
        (["a", "b", "c", "d"], np.full((3, 4), 0.25), "predictions has type <U1, expected integers"),
        ([0, 1, 2, 0], [[1, 0, 0, 0], [1], [0]], "^advice is not an array"),
        ([0, 1, 2, 0], np.full((3, 4), "x"), "^advice has type <U1, expected real numbers"),
        ([0, 1, 2, 0], np.array([[2, 0, 0, -1], [1, 0, 0, 0], [1, 0, 0, 0]]), r"^advice\[0, 3\] is -1, expected"),
        ([0, 1, 2, 0], np.full((2, 4), 0.25), r"advice has shape \(2, 4\), expected \(3, 4\)"),
        ([0, 1, 2, 0], np.full((3, 4), 0.2), r"^advice\[0\] sums to 0\.8, expected 1 \(policy 'p'\)"),
        ([0, 1, 2, 0], np.full((3, 4), np.nan), r"^advice\[0, 0\] is nan, expected a probability \(policy 'p'\)"),
    ],
)
def test_bad_instances_are_refused(predictions, advice, message):
    with pytest.raises(InputError, match=message):
        make().step(predictions, advice)


def test_values_of_numpy_are_plain_from_the_start_and_survive_the_disk(tmp_path):
    options = {
        "models": np.array(MODELS),
        "num_classes": np.int64(C),
        "budget": np.uint16(9),
        "cost": np.float32(0.5),
        "horizon": np.int32(T),
        "regularize": np.bool_(True),
        "scaled": np.bool_(False),
        "seed": np.int8(3),
        "rate": np.float32(0.5),
    }
    made, plain = make(**options), make(budget=9, cost=0.5, regularize=True, seed=3, rate=0.5)
    assert made._options == plain._options
    made.save(tmp_path / "state.npz")
    assert Selector.load(tmp_path / "state.npz")._options == plain._options


@pytest.mark.parametrize("ticket", [1.5, "1", None, [1], True])
def test_a_ticket_is_a_whole_number(ticket, bundle):
    selector = make("hedge")
    selector.step(bundle.predictions[0], bundle.advice[0])
    for call in (selector.drop, lambda t: selector.label(t, 0)):
        with pytest.raises(InputError, match=r"ticket is .*, expected the whole number that step gave"):
            call(ticket)
    assert selector.pending == [1]


def test_whole_floats_are_classes(bundle):
    whole, floats = make(seed=1), make(seed=1)
    for row in range(20):
        expected = whole.step(bundle.predictions[row], bundle.advice[row])
        assert floats.step(bundle.predictions[row].astype(float), bundle.advice[row]) == expected


def test_what_a_caller_does_to_its_arrays_later_does_not_matter(bundle):
    careful, careless = make("cqbc"), make("cqbc")
    votes, advice = np.empty(K, dtype=np.int32), np.empty((N, K))
    for row in range(20):
        expected = careful.step(bundle.predictions[row], bundle.advice[row])
        votes[:], advice[:] = bundle.predictions[row], bundle.advice[row]
        assert careless.step(votes, advice) == expected
        votes[:], advice[:] = 0, 0.25
    for ticket in careful.pending:
        for selector in (careful, careless):
            selector.label(ticket, 1)
    for name, value in careful._learner.state().items():
        np.testing.assert_array_equal(value, careless._learner.state()[name])


@pytest.mark.parametrize("cost", [0.1, 1 / 3, 1e-20])
def test_totals_are_exact_whatever_the_order(cost, bundle, tmp_path):
    selector = make("hedge", cost=cost)
    tickets = [selector.step(bundle.predictions[row], bundle.advice[row]).ticket for row in range(50)]
    other = selector.step(bundle.predictions[50], bundle.advice[50], cost=1e6).ticket
    for ticket in tickets[::2]:
        selector.label(ticket, 0)
    selector.drop(other)
    selector.save(tmp_path / "state.npz")
    selector = Selector.load(tmp_path / "state.npz")
    assert selector.spent == math.fsum([cost] * 25)
    assert selector.committed == math.fsum([cost] * 50)
    for ticket in tickets[1::2]:
        selector.drop(ticket)
    assert selector.committed == selector.spent == math.fsum([cost] * 25)


def test_a_copy_goes_its_own_way(bundle):
    selector = make("cqbc", seed=3)
    run(selector, bundle, np.arange(10))
    twins = [copy.deepcopy(selector), pickle.loads(pickle.dumps(selector))]
    ends = [run(each, bundle, np.arange(10, T)) for each in (selector, *twins)]
    assert ends[0] == ends[1] == ends[2]
