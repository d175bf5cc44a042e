"""Every way to play spent budgets decides as playing them in full does, and is not left for it without need.

The rounds are the middle of a long stream: weights are interpolated over spans of 60 rounds there, most rounds agree,
so that spans are left and resumed, and budgets are spent one after another within a span.
"""

from typing import Any

import numpy as np
import pytest

from cams.engine import frozen, spec
from cams.engine.kernel import new_game, play_rounds
from cams.engine.spec import KernelSpec
from cams.engine.state import Game, Stream, total_rounds

ROWS, BEFORE, AFTER, CLASSES = 150, 2000, 500, 3
BUDGETS = np.array([0, 1, 3, 6, 9, 14, 20, 26])
GRID = np.array([BEFORE + 70, BEFORE + ROWS - 2])  # rounds go on behind the last of it

EXTENDED, POLICIES, MODELS = ({"weigh": w} for w in (spec.WEIGH_EXTENDED, spec.WEIGH_POLICIES, spec.WEIGH_MODELS))
BY_EVIDENCE = {"by_evidence": True}
BANDIT = {"rate_kind": spec.RATE_BANDIT}
PROOF, LABEL = {"rate_kind": spec.RATE_ADVERSARIAL_PROOF}, {"rate_kind": spec.RATE_ADVERSARIAL_LABEL}
PRIOR = {"prior": 5.0, "fade": 9.0}

LEADERS, DRAW, MIXTURE, RATES = frozen.BY_LEADERS, frozen.BY_DRAW, frozen.BY_MIXTURE, frozen.BY_RATES
WAYS: list[tuple[int, int, dict[str, Any]]] = [
    (LEADERS, spec.RECOMMEND_LEADER, MODELS),
    (LEADERS, spec.RECOMMEND_BEST_POLICY, EXTENDED),
    (LEADERS, spec.RECOMMEND_BEST_POLICY, {**POLICIES, **LABEL}),
    (LEADERS, spec.RECOMMEND_MIXTURE, {**MODELS, **BANDIT}),
    (DRAW, spec.RECOMMEND_RANDOM_POLICY, EXTENDED),
    (DRAW, spec.RECOMMEND_SAMPLE_POLICY, {**POLICIES, **BY_EVIDENCE}),
    (DRAW, spec.RECOMMEND_SAMPLE_MODEL, MODELS),
    (MIXTURE, spec.RECOMMEND_MIXTURE, EXTENDED),
    (MIXTURE, spec.RECOMMEND_MIXTURE, {**EXTENDED, **BY_EVIDENCE}),
    (MIXTURE, spec.RECOMMEND_MIXTURE, {**POLICIES, **PRIOR}),
    (MIXTURE, spec.RECOMMEND_CONTEXTUAL_LEADER, POLICIES),
    (MIXTURE, spec.RECOMMEND_CONTEXTUAL_LEADER, {**MODELS, **PRIOR}),
    (RATES, spec.RECOMMEND_SAMPLE_POLICY, {**EXTENDED, **PROOF}),
    (RATES, spec.RECOMMEND_SAMPLE_POLICY, {**POLICIES, **LABEL}),
]


OTHER_WAYS: list[tuple[int, int, dict[str, Any]]] = [
    (LEADERS, spec.RECOMMEND_CONTEXTUAL_LEADER, {**MODELS, "n": 0}),
    (LEADERS, spec.RECOMMEND_MIXTURE, {**EXTENDED, "n": 0}),
    (MIXTURE, spec.RECOMMEND_MIXTURE, {**EXTENDED, "n": 1}),
    (MIXTURE, spec.RECOMMEND_CONTEXTUAL_LEADER, {**MODELS, "n": 1}),
    (DRAW, spec.RECOMMEND_SAMPLE_MODEL, {**EXTENDED, "n": 0}),
    (DRAW, spec.RECOMMEND_RANDOM_POLICY, MODELS),
    (frozen.IN_FULL, spec.RECOMMEND_SAMPLE_MODEL, EXTENDED),
    (frozen.IN_FULL, spec.RECOMMEND_SAMPLE_MODEL, {**MODELS, "on": 0.7}),
    (frozen.IN_FULL, spec.RECOMMEND_RANDOM_POLICY, {**EXTENDED, **PROOF}),
    (frozen.IN_FULL, spec.RECOMMEND_BEST_POLICY, {**EXTENDED, "prior": 0.5}),
    (frozen.IN_FULL, spec.RECOMMEND_RANDOM_POLICY, {**EXTENDED, "prior": 0.5}),
    (frozen.IN_FULL, spec.RECOMMEND_MIXTURE, {**MODELS, "prior": 0.5}),
]


def _stream(k: int, n: int, on: float, off: float) -> Stream:
    rng = np.random.default_rng(k)
    labels = rng.integers(0, CLASSES, ROWS).astype(np.int32)
    votes = np.where(rng.random((ROWS, k)) < 0.6, labels[:, None], rng.integers(0, CLASSES, (ROWS, k)))
    votes[rng.random(ROWS) < 0.4] = 1
    advice = rng.dirichlet(np.full(k, 0.3), (ROWS, n)).astype(np.float32)
    uniforms = rng.random((ROWS, 4))
    return Stream(
        np.arange(ROWS), votes.astype(np.int32), labels, advice, uniforms, CLASSES, on, off, BEFORE, AFTER
    )  # fmt: skip


def _learner(recommend: int, codes: dict[str, Any]) -> KernelSpec:
    constant = {"rate_kind": spec.RATE_ANYTIME, "query": spec.QUERY_CONSTANT, "query_a": 0.4, "query_b": 0.0}
    return KernelSpec(**{**constant, "rate": 5.0, "recommend": recommend, **codes})


@pytest.mark.parametrize(("way", "recommend", "codes"), WAYS + OTHER_WAYS)
def test_the_way_to_play(way: int, recommend: int, codes: dict[str, Any]) -> None:
    settings = {"n": 5, "on": 1.0, **codes}
    n, on = settings.pop("n"), settings.pop("on")
    learner = _learner(recommend, settings)
    assert frozen.way_to_play(learner, n, on) == way
    assert frozen.way_to_play(learner._replace(shortcuts=False), n, on) == frozen.IN_FULL


def test_a_part_of_a_stream_knows_how_long_the_whole_is() -> None:
    assert total_rounds(_stream(4, 9, 1.0, 0.0)) == BEFORE + ROWS + AFTER


def _played(learner: KernelSpec, stream: Stream) -> tuple[Game, Any]:
    game = new_game(learner, stream, BUDGETS.size)
    traces = np.zeros((2, BUDGETS.size, GRID.size), np.int64)
    for first, last in ((0, 100), (100, ROWS)):
        play_rounds(game, BUDGETS, GRID, traces[0], traces[1], first, last)
    assert traces[1, -1, -1] == BUDGETS[-1], "not every budget was spent"
    return game, traces


@pytest.mark.parametrize(("k", "n", "on"), [(18, 5, 1.0), (4, 9, 0.7)])
@pytest.mark.parametrize(("way", "recommend", "codes"), WAYS)
def test_a_spent_budget_decides_as_in_full(
    way: int, recommend: int, codes: dict[str, Any], k: int, n: int, on: float
) -> None:
    learner, stream = _learner(recommend, codes), _stream(k, n, on, (1 - on) / (k - 1))
    in_full, expected = _played(learner._replace(shortcuts=False), stream)
    game, found = _played(learner, stream)
    np.testing.assert_array_equal(found, expected)
    # Constants that regularisation has softened are no weights that a model could be drawn from.
    softened = recommend == spec.RECOMMEND_SAMPLE_MODEL and on < 1
    assert (in_full.traits.way, game.traits.way) == (frozen.IN_FULL, frozen.IN_FULL if softened else way)
    # Nearly all is settled: a tie by a hair in the first label's losses may have to be looked at in full.
    left_open = np.count_nonzero(game.work.verdicts[: BUDGETS.size] == frozen.OPEN)
    assert left_open <= (BUDGETS.size if softened else 1)


@pytest.mark.parametrize("weighed", [EXTENDED, POLICIES])
def test_a_rate_follows_a_mass_that_grows_after_the_budget_is_spent(weighed: dict[str, Any]) -> None:
    """Rounds come by how many models vote alike, so that the largest mass of a class is a new one again and again."""
    stream = _stream(18, 5, 1.0, 0.0)
    alike = [np.bincount(votes).max() for votes in stream.predictions]
    stream = stream._replace(rows=np.argsort(alike, kind="stable"))
    learner = _learner(spec.RECOMMEND_SAMPLE_POLICY, {**weighed, **PROOF})
    in_full, expected = _played(learner._replace(shortcuts=False), stream)
    game, found = _played(learner, stream)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(game.state.largest_mass, in_full.state.largest_mass, rtol=1e-12)
    assert game.state.largest_mass[1] > 0.5


def test_rates_enclose_every_round_also_after_a_long_pause() -> None:
    """Rounds on which all agree are not judged, and may be more than a span: interpolation starts anew after them."""
    before = 500  # where a span is of 15 rounds
    stream = _stream(4, 9, 1.0, 0.0)._replace(before=before)
    stream.predictions[90:140] = 1  # when all budgets are spent
    game = new_game(_learner(spec.RECOMMEND_MIXTURE, EXTENDED), stream, BUDGETS.size)
    traces, judged = np.zeros((2, BUDGETS.size, GRID.size), np.int64), 0
    for step in range(ROWS):
        play_rounds(game, BUDGETS, GRID, traces[0], traces[1], step, step + 1)
        if len(set(stream.predictions[step])) > 1:
            t, (near, far), judged = before + step + 1, game.frozen.rates[0], judged + 1
            eta = 5.0 * np.sqrt(np.log(13) / t)
            assert far <= eta * (1 + 1e-12)
            assert eta <= near * (1 + 1e-12)
            assert t <= game.frozen.last_round[0] <= t + frozen.span_of(t)
    assert judged > 30


def test_what_a_label_showed_stays_known_when_a_budget_is_spent() -> None:
    """Here the largest mass grows with labels alone, so that whoever may buy more of them never knows less."""
    game, _ = _played(_learner(spec.RECOMMEND_SAMPLE_POLICY, {**EXTENDED, **LABEL}), _stream(18, 5, 1.0, 0.0))
    masses = game.state.largest_mass[: BUDGETS.size]
    assert masses[0] == 0 < masses[-1]
    assert (np.diff(masses) >= 0).all()
