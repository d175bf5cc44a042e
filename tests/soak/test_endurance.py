"""A selector that runs for a very long time, stopped and started again and again, is one that was never stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cams import Selector

K, N, C, BLOCK = 5, 4, 3, 1000


def megabytes() -> float:
    """Return this process's memory as the system counts it."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def instances(rounds: int) -> Iterator[tuple[np.ndarray, np.ndarray, int, float]]:
    """Yield predictions, advice, the label, and a number that says what becomes of it."""
    rng = np.random.default_rng(0)
    for _ in range(0, rounds, BLOCK):
        labels = rng.integers(0, C, BLOCK)
        votes = np.where(rng.random((BLOCK, K)) < 0.6, labels[:, None], rng.integers(0, C, (BLOCK, K)))
        yield from zip(votes, rng.dirichlet(np.ones(K), (BLOCK, N)), labels.tolist(), rng.random(BLOCK), strict=True)


def endure(rounds: int, stops: set[int], path: Path) -> tuple[str, Selector, float]:
    """Play a stream with late and lost labels, saving and loading before the rounds in `stops`.

    Return a digest of all decisions, the selector, and by how much memory grew after the first tenth.
    """
    selector = Selector(
        models=[f"m{j}" for j in range(K)], policies=[f"p{i}" for i in range(N)], num_classes=C, cost=0.1, seed=1
    )
    digest, late, early_memory = hashlib.sha256(), {}, 0.0
    for t, (votes, advice, label, fate) in enumerate(instances(rounds), start=1):
        if t in stops:
            selector.save(path)
            selector = Selector.load(path)
        if t == rounds // 10:
            early_memory = megabytes()
        decision = selector.step(votes, advice, cost=0.3 if fate < 0.5 else None)
        digest.update(f"{decision.model_index},{decision.query},{decision.query_probability!r};".encode())
        if decision.query:
            late.setdefault(t + int(200 * fate), []).append((decision.ticket, label, fate))
        for ticket, truth, luck in late.pop(t, []):
            if luck < 0.2:
                selector.drop(ticket)
            else:
                selector.label(ticket, truth)
    return digest.hexdigest(), selector, megabytes() - early_memory


@pytest.mark.parametrize(
    ("rounds", "stops"), [(4000, 25), pytest.param(1_000_000, 2000, marks=pytest.mark.soak)], ids=["short", "million"]
)
def test_stopping_changes_nothing_and_nothing_grows(rounds, stops, tmp_path):
    moments = set(np.random.default_rng(2).choice(np.arange(1, rounds), stops, replace=False).tolist())
    whole, undisturbed, growth = endure(rounds, set(), tmp_path / "state.npz")
    stopped, disturbed, growth_when_stopped = endure(rounds, moments, tmp_path / "state.npz")
    assert stopped == whole
    assert (disturbed.spent, disturbed.committed, disturbed.pending) == (
        undisturbed.spent,
        undisturbed.committed,
        undisturbed.pending,
    )
    for name, value in undisturbed._learner.state().items():
        np.testing.assert_array_equal(disturbed._learner.state()[name], value)
    assert len(undisturbed.pending) <= 200
    assert len(undisturbed.history()) == 1000
    assert disturbed.history().equals(undisturbed.history())
    # Ten times the rounds that are kept take some 0.3 megabytes; a leak of a hundred bytes a round would take 90.
    assert max(growth, growth_when_stopped) < 10
