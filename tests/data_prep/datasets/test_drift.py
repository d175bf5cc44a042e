"""DRIFT's two line formats, its content checks, and perceptrons that learn and repeat themselves."""

import gzip
import io

import numpy as np
import pytest

from data_prep.datasets import drift
from data_prep.pipeline.hashes import fingerprint
from data_prep.pipeline.sources import SourceError
from data_prep.training.cross_fit import Lesson

VALUES = " ".join(f"{i}:{i / 4}" for i in range(1, 129))
MEMBER = {"layers": [128, 30, 10], "epochs": 30, "batch_size": 32, "learning_rate": 0.01}


def test_lines_with_and_without_concentration():
    features, labels = drift.read_batch(io.BytesIO(f"1;10.000000 {VALUES}\n6 {VALUES}\n".encode()))
    assert labels.tolist() == [0, 5]
    assert features.shape == (2, 128)
    assert features[0, 3] == 1.0


def test_a_line_that_lost_a_feature_is_refused():
    with pytest.raises(SourceError, match=r"1\.\.128"):
        drift.read_batch(io.BytesIO(f"1;10 {VALUES.rsplit(' ', 1)[0]}\n".encode()))


def test_wrong_batch_sizes_are_refused(tmp_path):
    for number in range(1, 11):
        with gzip.open(tmp_path / f"batch{number}.dat.gz", "wt") as stream:
            stream.write(f"1;10 {VALUES}\n")
    with pytest.raises(SourceError, match="batch sizes"):
        drift.parse_folder(tmp_path)


def generated_batches() -> dict[int, drift.Batch]:
    rng = np.random.default_rng(0)
    return {n: (rng.normal(size=(50, 128)).round(6), rng.integers(0, 6, 50)) for n in range(1, 11)}


@pytest.fixture
def batches(monkeypatch) -> dict[int, drift.Batch]:
    """Generated batches that the checks are told to expect."""
    made = generated_batches()
    exact = [made[n] for n in drift.EXACT_BATCHES]
    joined = [np.concatenate(parts) for parts in zip(*exact, strict=True)]
    monkeypatch.setattr(drift, "EXACT_HASH", fingerprint(*joined))
    monkeypatch.setattr(drift, "SUMS", {n: drift.sums(*made[n]) for n in (7, 10)})
    drift.check_values(made)
    return made


@pytest.mark.parametrize("number", range(1, 11))
def test_one_wrong_value_is_refused_in_every_batch(batches, number):
    batches[number][0][3, 5] = 99999
    with pytest.raises(
        SourceError, match="hash of batches" if number in drift.EXACT_BATCHES else f"batch {number} add"
    ):
        drift.check_values(batches)


def test_a_rebuilt_batch_is_accepted_and_swapped_features_are_not(batches):
    features, labels = batches[7]
    order = np.random.default_rng(1).permutation(50)
    rebuilt = features[order]
    rebuilt[:, [41, 56, 64, 72, 104]] += 3e-4
    drift.check_values({**batches, 7: (rebuilt, labels[order])})
    swapped = features.copy()
    swapped[:, [0, 127]] = 100 * features[:, [127, 0]]
    with pytest.raises(SourceError, match="batch 7"):
        drift.check_values({**batches, 7: (swapped, labels)})


@pytest.fixture
def lesson() -> Lesson:
    """Three classifiers; the first feature's sign says whether the first or the second is right."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 128))
    first = features[:, 0] > 0
    return Lesson(features, rng.integers(0, 6, 300), np.stack([first, ~first, np.zeros(300)], axis=1))


def test_perceptrons_learn_rewards_and_repeat_themselves(lesson):
    policies = pytest.importorskip("data_prep.training.perceptron")
    rewards = policies.fit_predict(MEMBER, lesson, lesson.features, seed=1)
    assert rewards.shape == (300, 3)
    assert np.mean(rewards.argmax(axis=1) == (lesson.features[:, 0] <= 0)) > 0.95
    assert np.array_equal(rewards, policies.fit_predict(MEMBER, lesson, lesson.features, seed=1))


def test_a_biased_perceptron_sees_its_classes_only(lesson):
    policies = pytest.importorskip("data_prep.training.perceptron")
    member = {**MEMBER, "class_weights": [1, 1, 0, 0, 0, 0]}
    seen = lesson.labels < 2
    other_rewards = Lesson(lesson.features, lesson.labels, np.where(seen[:, None], lesson.rewards, 1.0))
    assert np.array_equal(
        policies.fit_predict(member, lesson, lesson.features, seed=1),
        policies.fit_predict(member, other_rewards, lesson.features, seed=1),
    )
