"""Learners that take turns at blocks of rounds decide as if each played alone."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cams
from cams import pool
from cams.engine.hindsight import _verdict, _verdict_among_answers
from cams.passes import passes

HORIZON = 60


@pytest.mark.parametrize("regularize", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_size_of_a_block_changes_nothing(
    make_bundle: Any, monkeypatch: pytest.MonkeyPatch, scaled: bool, regularize: bool
) -> None:
    bundle = make_bundle(rows=80, k=5, n=4, c=3)

    def played(block: int) -> cams.Replay:
        monkeypatch.setattr(pool, "rounds_of_block", lambda advice: block)
        return cams.replay(
            bundle, list(cams.LEARNERS), horizon=HORIZON, budgets=[0, 3, 10, 40], realizations=2, seed=4,
            scaled=scaled, regularize=regularize, trace=[1, 7, 30, HORIZON],
        )  # fmt: skip

    whole = played(HORIZON)
    assert whole.queries.any()
    for block in (1, 7):
        parts = played(block)
        for name in ("loss", "queries", "loss_trace", "queries_trace", "model_losses", "policy_losses"):
            np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name), name)


def test_a_block_holds_some_megabytes_of_advice_and_never_just_a_few_rounds() -> None:
    row = np.zeros((3, 85, 80), dtype=np.float32)
    assert pool.rounds_of_block(row) == 2 * 2**20 // (85 * 80 * 4)
    assert pool.rounds_of_block(np.zeros((2, 1000, 5000), dtype=np.float32)) == 16
    assert pool.rounds_of_block(np.zeros((10, 0, 80), dtype=np.float32)) >= 1_000_000


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_favourite_is_right_or_wrong_or_ties(kind: type) -> None:
    """The first model is right, two are wrong, and the last has no answer."""
    close = [0.5, 0.5 - 1e-13, 1e-13, 0] if kind is np.float64 else [0.5, 0.5, 0, 0]
    nearly = [0.5 + 1e-7, 0.5 - 1e-7, 0, 0]
    misses, hits = np.array([0, 1, 1, 0], dtype=kind), np.array([1, 0, 0, 0], dtype=kind)
    advice = [close, nearly, [0.1, 0.2, 0.7, 0], [0.2, 0.4, 0.4, 0], [1, 0, 0, 0], [0.1, 0.08, 0.02, 0.8], [0, 0, 0, 1]]
    assert [_verdict_among_answers(np.array(row, dtype=kind), misses, hits) for row in advice] == [
        -1,
        0,
        1,
        1,
        0,
        0,
        -1,
    ]


def test_runs_that_ask_and_name_alike_are_played_once(make_bundle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(pool, "passes", lambda *given: made.extend(found := passes(*given)) or found)
    bundle = make_bundle(rows=80, k=5, n=4, c=3)
    twins = ["cams", "oracle", {"name": "cams", "label": "again"}, "cams_max"]
    together = cams.replay(bundle, twins, horizon=HORIZON, budgets=[3, 20], realizations=1, seed=0, trace=[10, 50])
    assert len(made) == 2
    for a, twin in enumerate(twins):
        alone = cams.replay(bundle, [twin], horizon=HORIZON, budgets=[3, 20], realizations=1, seed=0, trace=[10, 50])
        for name in ("loss", "queries", "loss_trace", "queries_trace"):
            np.testing.assert_array_equal(getattr(together, name)[a], getattr(alone, name)[0], f"{twin} {name}")
    assert (together.loss[1] == min(together.policy_losses.min(), together.model_losses.min())).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_favourite_where_all_models_answer(kind: type) -> None:
    close = [0.5, 0.5 - 1e-13, 1e-13] if kind is np.float64 else [0.5, 0.5, 0.0]
    advice = [close, [0.5 + 1e-7, 0.5 - 1e-7, 0.0], [0.1, 0.2, 0.7], [0.2, 0.4, 0.4], [1.0, 0.0, 0.0]]
    misses = np.array([0, 1, 1], dtype=kind)
    assert [_verdict(np.array(row, dtype=kind), misses) for row in advice] == [-1, 0, 1, 1, 0]


@pytest.mark.parametrize("trace", [None, [1], [1, 7, 30]])
def test_a_learner_played_round_by_round_ends_where_the_compiled_one_does(
    make_bundle: Any, monkeypatch: pytest.MonkeyPatch, trace: list[int] | None
) -> None:
    """However many rounds are recorded, the totals are those of the last round."""
    bundle = make_bundle(rows=80, k=5, n=4, c=3)
    how: dict[str, Any] = {"horizon": HORIZON, "budgets": [3, 20], "realizations": 2, "seed": 0, "trace": trace}
    compiled = cams.replay(bundle, ["cams"], **how)
    entry = cams.LEARNERS["cams"]

    class WithoutTwin(entry.factory):  # type: ignore[misc, name-defined]
        def kernel(self) -> None:
            return None

    monkeypatch.setitem(cams.LEARNERS, "cams", replace(entry, factory=WithoutTwin))
    slow = cams.replay(bundle, ["cams"], **how)
    for name in ("loss", "queries", "loss_trace", "queries_trace"):
        np.testing.assert_array_equal(getattr(slow, name), getattr(compiled, name), name)
