"""Accuracies that the stages report: arrays in, numbers by name out."""

from collections.abc import Iterator, Sequence

import numpy as np

from cams.compact import DenseRewards, HeadRewards

CHUNK_ROWS = 10_000


def model_accuracies(predictions: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(M, k) predicted labels and (M,) labels to the (k,) accuracies of the classifiers."""
    return (predictions == labels[:, None]).mean(axis=0)


def policy_accuracies(rewards: np.ndarray, predictions: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(M, s, k) rewards to the (s,) accuracies of following each policy's favourite classifier."""
    chosen = np.take_along_axis(predictions, rewards.argmax(axis=2), axis=1)
    return (chosen == labels[:, None]).mean(axis=0)


def stored_policy_accuracies(
    rewards: DenseRewards | HeadRewards, predictions: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """As policy_accuracies, from rewards in their stored form, a block of rows at a time."""
    hits = np.zeros(rewards.count)
    for start, stop in blocks(len(labels)):
        part = slice(start, stop)
        hits += policy_accuracies(rewards.rows(start, stop), predictions[part], labels[part]) * (stop - start)
    return hits / len(labels)


def blocks(num_rows: int) -> Iterator[tuple[int, int]]:
    for start in range(0, num_rows, CHUNK_ROWS):
        yield start, min(start + CHUNK_ROWS, num_rows)


def by_name(names: Sequence[str], values: np.ndarray) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in zip(names, values, strict=True)}
