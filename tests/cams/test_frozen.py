"""Spent budgets are played cheaply: what is claimed of interpolation and rounding holds, and doubt is admitted."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.errors import TypingError

from cams.engine import frozen, spec, tiles
from cams.engine.arithmetic import draw, pick_tied
from cams.engine.compiled import compiled_making_arrays
from cams.engine.kernel import new_game, play_rounds
from cams.engine.spec import KernelSpec
from cams.engine.state import Stream

seeds = st.integers(0, 2**32 - 1)


@compiled_making_arrays
def _new(way: int, slots: int, size: int, n: int, k: int) -> frozen.Frozen:
    return frozen.new_frozen(way, slots, size, n, k)


def _losses(rng: np.random.Generator, slots: int, size: int, scale: float) -> Any:
    losses = scale * rng.exponential(size=(slots, size))
    losses[rng.random(losses.shape) < 0.1] = 0.0
    return losses - losses.min(axis=1, keepdims=True)


def _with_ends(way: int, losses: Any, n: int, k: int, near: float, far: float) -> frozen.Frozen:
    slots, size = losses.shape
    state = _new(way, slots, size, n, k)
    bits = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for slot in range(slots):
        frozen.set_ends(way, losses[slot], slot, near, far, False, state, *bits)
    if way == frozen.BY_MIXTURE:
        frozen.list_policies(n, slots, state)
    return state


def _judge(pi: Any, misses: Any, position: float, count: int, state: frozen.Frozen, verdicts: Any) -> None:
    for slot in range(count):
        frozen.interpolate(position, slot, state)
    frozen.judge_mixtures(spec.WEIGH_EXTENDED, pi, pi, misses, 1.0, 0.0, position, count, state, verdicts)


def _rate_between(near: float, far: float, position: float) -> float:
    return near - position * (near - far)


def test_the_slack_by_hand() -> None:
    # L = 0, 2, 1 between rates of 0.3 and 0.2: 0.1^2 / 8 * (4 exp(-0.4) + exp(-0.2)) = 0.00125 * 3.500011.
    losses = np.array([[0.0, 2.0, 1.0]])
    assert _with_ends(frozen.BY_MIXTURE, losses, 1, 2, 0.3, 0.2).slack == pytest.approx([0.00437501], abs=1e-8)
    # Of shares, over the total at the near rate: 1 + exp(-0.6) + exp(-0.3) = 2.289630.
    assert _with_ends(frozen.BY_DRAW, losses, 0, 3, 0.3, 0.2).slack == pytest.approx([0.00191080], abs=1e-8)
    assert frozen.doubt_between(0.1, 0.25) == pytest.approx(0.075)
    assert frozen.doubt_between(0.1, 1.0) == 0


@given(seed=seeds, scale=st.sampled_from([0.1, 3.0, 100.0]), ratio=st.floats(0.5, 1), position=st.floats(0, 1))
@settings(max_examples=200, deadline=None)
def test_interpolated_shares_are_off_by_no_more_than_the_slack(
    seed: int, scale: float, ratio: float, position: float
) -> None:
    losses = _losses(np.random.default_rng(seed), 3, 12, scale)
    state = _with_ends(frozen.BY_DRAW, losses, 0, 12, 0.3, 0.3 * ratio)
    weights = np.exp(-_rate_between(0.3, 0.3 * ratio, position) * losses)
    exact = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    between = state.start + position * state.step
    slack = state.slack * 4 * position * (1 - position) + 2.0**-22
    assert (np.abs(between - exact) <= slack[:, None]).all()


@given(seed=seeds, uniform=st.floats(0, 1, exclude_max=True), ratio=st.floats(0.5, 1), position=st.floats(0, 1))
@settings(max_examples=200, deadline=None)
def test_a_draw_is_what_the_learner_draws_or_open(seed: int, uniform: float, ratio: float, position: float) -> None:
    losses = _losses(np.random.default_rng(seed), 4, 9, 5.0)
    state = _with_ends(frozen.BY_DRAW, losses, 0, 9, 0.3, 0.3 * ratio)
    chosen = np.zeros(4, dtype=np.int64)
    frozen.draw_between(state.start, state.step, state.slack, position, uniform, 4, chosen)
    weights = np.exp(-_rate_between(0.3, 0.3 * ratio, position) * losses)
    for slot in range(4):
        assert chosen[slot] in (frozen.OPEN, draw(weights[slot], uniform))


@pytest.mark.parametrize("off", [0.0, 1e-9, -1e-9, 4e-8, -4e-8, 3e-7, -3e-7])
def test_a_draw_next_to_the_edge_of_two_shares_is_the_learners_or_open(off: float) -> None:
    losses = _losses(np.random.default_rng(1), 4, 9, 5.0)
    state, weights = _with_ends(frozen.BY_DRAW, losses, 0, 9, 0.3, 0.3), np.exp(-0.3 * losses)
    chosen = np.zeros(4, dtype=np.int64)
    for edge in (np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True))[:, :-1].ravel() + off:
        frozen.draw_between(state.start, state.step, state.slack, 0.0, edge, 4, chosen)
        for slot in range(4):
            assert chosen[slot] in (frozen.OPEN, draw(weights[slot], edge))


@given(
    seed=seeds,
    scale=st.sampled_from([0.1, 3.0, 300.0]),
    sharpness=st.sampled_from([0.0, 1e-4, 5.0]),
    ratio=st.floats(0.9, 1),
    position=st.floats(0, 1),
)
@settings(max_examples=200, deadline=None)
def test_a_verdict_is_the_learners_own_or_open(
    seed: int, scale: float, sharpness: float, ratio: float, position: float
) -> None:
    rng, (slots, n, k) = np.random.default_rng(seed), (6, 7, 19)
    losses = _losses(rng, slots, n + k, scale)
    state = _with_ends(frozen.BY_MIXTURE, losses, n, k, 0.2, 0.2 * ratio)
    state.factors[:slots] = rng.integers(0, 3, (slots, k)) / 2
    pi = np.exp(sharpness * rng.standard_normal((n, k)))
    pi = (pi / pi.sum(axis=1, keepdims=True)).astype(np.float32)
    misses = rng.integers(0, 2, k).astype(np.float32)
    verdicts = np.zeros(slots, dtype=np.int64)
    _judge(pi, misses, position, slots, state, verdicts)
    weights = np.exp(-_rate_between(0.2, 0.2 * ratio, position) * losses)
    scores = state.factors[:slots] * (weights[:, :n] @ pi.astype(float) + weights[:, n:])
    for slot in range(slots):
        assert verdicts[slot] in (frozen.OPEN, misses[pick_tied(scores[slot], rng.random())])


def test_a_clear_winner_is_not_left_open() -> None:
    losses = np.zeros((1, 3 + 4))
    losses[0, 1:] = 50.0
    state = _with_ends(frozen.BY_MIXTURE, losses, 3, 4, 0.2, 0.199)
    pi = np.tile(np.array([0.1, 0.6, 0.2, 0.1], dtype=np.float32), (3, 1))
    verdicts = np.full(1, frozen.OPEN)
    for wrong in (0, 1):
        misses = np.array([1 - wrong, wrong, 1 - wrong, 1 - wrong], dtype=np.float32)
        _judge(pi, misses, 0.5, 1, state, verdicts)
        assert verdicts[0] == wrong


@pytest.mark.parametrize(
    ("losses", "on", "leaders"),
    [
        ([0.0, 1.0, 0.0], 1.0, [0, 2]),
        ([2.0, 0.0, 1e-3], 1.0, [1]),
        ([0.0, 1e-15, 1.0], 1.0, [0, 1]),  # a rounding error apart is a tie
        ([0.0, 1e-11, 1.0], 1.0, []),  # ties at a low rate, not at a high one: nobody can be listed
        # Softened constants, 0.4 against 0.3, tell less: 0.01 L has to reach 2e-9 * (0.4 + 3 * 0.3) / 0.1 = 2.6e-8.
        ([0.0, 2e-6, 1.0], 0.4, []),
        ([0.0, 4e-6, 1.0], 0.4, [0]),
    ],
)
def test_leaders_are_listed_only_where_no_rate_can_change_them(
    losses: list[float], on: float, leaders: list[int]
) -> None:
    state = _new(frozen.BY_LEADERS, 1, 3, 0, 3)
    frozen.list_heaviest(np.array(losses), 0, 1.0, 0.01, on, (1 - on) / 2, state)
    assert state.leaders[0, : state.num_leaders[0]].tolist() == leaders


@pytest.mark.parametrize("k", [1, 5, 16, 17, 40])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighed", [spec.WEIGH_EXTENDED, spec.WEIGH_POLICIES])
def test_rough_mixtures_are_good_to_the_margin(k: int, count: int, dtype: Any, weighed: int) -> None:
    rng, n, on, off = np.random.default_rng(k * count), 10 + k % 2, 0.7, 0.1
    slots = -(-count // spec.TILE_SLOTS) * spec.TILE_SLOTS
    size = n + k if weighed == spec.WEIGH_EXTENDED else n
    q = np.zeros((slots, size), dtype=np.float32)
    q[:count] = rng.random((count, size))
    q[:, 3] = 0  # the fourth need not be listed: the last takes its place
    pi = rng.random((n, k)).astype(dtype)
    listed = np.tile(np.arange(n), (slots // spec.TILE_SLOTS, 1))
    listed[:, 3] = n - 1
    w = np.full((slots, k), -1, dtype=np.float32)
    tiles.mix_roughly(pi, q, count, listed, np.full(len(listed), n - 1), weighed, on, off, pi, w)
    expected = q[:count, :n].astype(float) @ pi
    if weighed == spec.WEIGH_EXTENDED:
        expected += q[:count, n:] @ ((on - off) * np.eye(k) + off)
    np.testing.assert_allclose(w[:count], expected, rtol=tiles.rough_margin(size))


def test_going_on_from_the_far_end_is_as_good_as_starting_there() -> None:
    losses = _losses(np.random.default_rng(3), 5, 20, 4.0)
    bits = np.zeros(20, dtype=np.int64), np.zeros(20, dtype=np.int64)
    for way in (frozen.BY_DRAW, frozen.BY_MIXTURE):
        gone_on = _with_ends(way, losses, 8, 12, 0.3, 0.28)
        for slot in range(5):
            frozen.set_ends(way, losses[slot], slot, 0.28, 0.26, True, gone_on, *bits)
        if way == frozen.BY_MIXTURE:
            frozen.list_policies(8, 5, gone_on)
        afresh = _with_ends(way, losses, 8, 12, 0.28, 0.26)
        for name in ("far", "slack", "start", "step", "num_listed"):
            np.testing.assert_allclose(getattr(gone_on, name), getattr(afresh, name), rtol=1e-13, err_msg=name)


def test_no_weight_is_looked_for_behind_the_last_one() -> None:
    memory = np.zeros((6, 4))
    memory[4:] = 1.0  # what happens to lie behind four slots of four models' weights
    state = _new(frozen.BY_MIXTURE, 4, 4, 9, 4)._replace(far=memory[:4])
    frozen.list_policies(9, 4, state)
    assert state.num_listed.tolist() == [0]


@pytest.mark.parametrize("c", [3, 200])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_the_rough_mass_of_a_class_is_good_to_the_margin(c: int, count: int) -> None:
    rng, (n, k) = np.random.default_rng(count), (9, 21)
    slots = -(-count // spec.TILE_SLOTS) * spec.TILE_SLOTS
    q = np.zeros((slots, n + k), dtype=np.float32)
    q[:count] = rng.dirichlet(np.ones(n + k), count)
    pi, votes = rng.dirichlet(np.ones(k), n).astype(np.float32), rng.integers(0, c, k).astype(np.int32)
    listed, w = np.tile(np.arange(n), (slots // spec.TILE_SLOTS, 1)), np.zeros((slots, k), dtype=np.float32)
    tiles.mix_roughly(pi, q, count, listed, np.full(len(listed), n), spec.WEIGH_EXTENDED, 1.0, 0.0, pi, w)
    largest = np.zeros(slots, dtype=np.float32)
    for first in range(0, count, spec.TILE_SLOTS):
        frozen.largest_masses(votes, w, first, np.ones((spec.TILE_SLOTS, c), dtype=np.float32), largest)
    exact = q[:count, :n].astype(float) @ pi + q[:count, n:]
    masses = [np.bincount(votes, weights=row).max() for row in exact]
    np.testing.assert_allclose(largest[:count], masses, rtol=tiles.rough_margin(n + k + k))


def test_few_outcomes_are_left_open() -> None:
    """A bound that always says OPEN would be right, and useless."""
    rng, (slots, n, k), t = np.random.default_rng(0), (8, 20, 30), 1000
    rates = [np.sqrt(np.log(n + k) / round_) for round_ in (t, t + frozen.span_of(t))]
    losses = _losses(rng, slots, n + k, 20.0)
    drawn, mixed = (_with_ends(way, losses, n, k, *rates) for way in (frozen.BY_DRAW, frozen.BY_MIXTURE))
    chosen, verdicts, opened, judged = np.zeros(slots, dtype=np.int64), np.zeros(slots, dtype=np.int64), 0, 0
    for _ in range(200):
        frozen.draw_between(drawn.start, drawn.step, drawn.slack, rng.random(), rng.random(), slots, chosen)
        pi = rng.dirichlet(np.full(k, 0.3), n).astype(np.float32)
        misses = rng.integers(0, 2, k).astype(np.float32)
        _judge(pi, misses, rng.random(), slots, mixed, verdicts)
        opened += (chosen == frozen.OPEN).sum() + (verdicts == frozen.OPEN).sum()
        judged += 2 * slots
    assert opened < 0.02 * judged


WEIGHED = (spec.WEIGH_EXTENDED, spec.WEIGH_POLICIES, spec.WEIGH_MODELS)
RATES = (
    {"rate_kind": spec.RATE_ANYTIME},
    {"rate_kind": spec.RATE_ANYTIME, "by_evidence": True},
    {"rate_kind": spec.RATE_BANDIT},
    {"rate_kind": spec.RATE_ADVERSARIAL_PROOF},
    {"rate_kind": spec.RATE_ADVERSARIAL_LABEL},
)
RECOMMENDED = tuple(range(spec.RECOMMEND_CONTEXTUAL_LEADER + 1))


@pytest.mark.parametrize(("on", "off"), [(1.0, 0.0), (0.3, 0.7 / 17)])
@pytest.mark.parametrize(("k", "n"), [(18, 5), (4, 9)])
def test_any_combination_of_codes_is_played_as_in_full(on: float, off: float, k: int, n: int) -> None:
    """Also those that no learner of this package is made of; most rounds agree, so that spans are left and resumed."""
    rng, rows, c = np.random.default_rng(k), 500, 3
    labels = rng.integers(0, c, rows).astype(np.int32)
    votes = np.where(rng.random((rows, k)) < 0.6, labels[:, None], rng.integers(0, c, (rows, k)))
    votes[rng.random(rows) < 0.6] = 1
    advice = rng.dirichlet(np.full(k, 0.3), (rows, n)).astype(np.float32)
    arrays = (np.arange(rows), votes.astype(np.int32), labels, advice, rng.random((rows, 4)), c, on, off)
    budgets = np.array([0, 1, 3, 7, 12, 20, 33, 50, 80])

    def play(**codes: Any) -> Any:
        learner = KernelSpec(rate=2.0, query=spec.QUERY_CONSTANT, query_a=0.4, query_b=0.0, **codes)
        traces = [np.zeros((9, 5), np.int64), np.zeros((9, 5), np.int64)]
        grid = np.array([100, 200, 300, 400, 500])
        game = new_game(learner, Stream(*arrays), budgets.size)
        play_rounds(game, budgets, grid, *traces, 0, rows)
        return traces

    for weighed, rates, recommend, prior in product(WEIGHED, RATES, RECOMMENDED, (0.0, 5.0)):
        codes = {"weigh": weighed, **rates, "recommend": recommend, "prior": prior, "fade": 9.0}
        for fast, slow in zip(play(**codes), play(**codes, shortcuts=False), strict=True):
            np.testing.assert_array_equal(fast, slow, str(codes))


def test_what_a_tile_cannot_read_is_refused() -> None:
    q, w, listed = np.zeros((4, 3), np.float32), np.zeros((4, 16), np.float32), np.zeros((1, 3), np.int64)
    with pytest.raises(TypingError, match="C order"):
        tiles.mix_roughly(np.asfortranarray(np.ones((3, 16))), q, 4, listed, listed[0], 1, 1.0, 0.0, q, w)


def test_a_rough_draw_is_open_only_next_to_an_edge() -> None:
    weights = np.array([0.5, 0.0, 0.25, 0.25], dtype=np.float32)
    uniforms = [0.0, 0.11, 0.48, 0.49, 0.5, 0.51, 0.52, 0.73, 0.75, 0.77, 0.98, 1.0]
    drawn = [frozen.draw_roughly(weights, 1.0, 0.015, uniform) for uniform in uniforms]
    o = frozen.OPEN
    assert drawn == [0, 0, 0, o, o, o, 2, 2, o, 3, 3, o]
    assert frozen.draw_roughly(2 * weights, 2.0, 0.015, 0.495) == o
    assert frozen.draw_roughly(2 * weights, 2.0, 0.015, 0.49) == 0


def test_a_rough_draw_is_the_exact_one_wherever_it_is_told() -> None:
    """Interpolated weights never fall short, and in sum are off by no more than the slack says."""
    random = np.random.default_rng(3)
    told = 0
    for _ in range(200):
        size = int(random.integers(2, 60))
        losses = random.exponential(30, (1, size))
        losses -= losses.min()
        near = float(random.uniform(0.01, 0.3))
        far, position = near * float(random.uniform(0.97, 1)), float(random.uniform())
        state = _with_ends(frozen.BY_RATES, losses, 1, 2, near, far)
        frozen.interpolate(position, 0, state)
        exact = np.exp(-_rate_between(near, far, position) * losses[0])
        weights, doubt = state.weights[0], frozen.doubt_between(state.slack[0], position)
        total, rounding = float(weights.sum(dtype=float)), 16 * 2.0**-24
        assert (weights >= exact * (1 - rounding)).all()
        assert total - exact.sum() <= doubt + rounding * total
        for uniform in random.uniform(size=20):
            drawn = frozen.draw_roughly(weights, total, doubt + rounding * total, uniform)
            if drawn != frozen.OPEN:
                told += 1
                assert drawn == np.searchsorted(exact.cumsum(), uniform * exact.sum(), side="right")
    assert told > 3500
