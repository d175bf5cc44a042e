"""No row, and no copy of a row, is in two parts of a split."""

import numpy as np
import pytest

from cams import InputError
from cams.archive import write_archive
from data_prep.datasets.tabular import table as tabular
from data_prep.pipeline.dataset import Split
from data_prep.pipeline.partition import divide, duplicate_clusters
from tests.data_prep.conftest import context_for


def parts_of(split: Split) -> list[np.ndarray]:
    return [split.classifier_rows, split.policy_rows, split.pool_rows]


def test_parts_have_exact_sizes_and_no_common_row_or_copy(table, tmp_path):
    context = context_for("vertebral", tmp_path, split={"pool": 127, "policy": 100, "classifier": 80})
    parts = parts_of(tabular.split(table, context))
    assert [len(part) for part in parts] == [80, 100, 127]
    contents = [{table.inputs[row].tobytes() for row in part} for part in parts]
    assert not contents[0] & contents[1]
    assert not contents[0] & contents[2]
    assert not contents[1] & contents[2]


def test_split_depends_on_the_seed_alone(table, tmp_path):
    sizes = {"split": {"pool": 100, "policy": 100, "classifier": 100}}
    first, again, other = (
        tabular.split(table, context_for("vertebral", tmp_path, f"seed={seed}", **sizes)) for seed in (0, 0, 1)
    )
    assert all(np.array_equal(a, b) for a, b in zip(parts_of(first), parts_of(again), strict=True))
    assert not np.array_equal(first.pool_rows, other.pool_rows)


@pytest.mark.parametrize("seed", range(5))
def test_large_clusters_stay_whole(seed):
    clusters = duplicate_clusters(np.repeat(np.arange(60), np.r_[np.ones(50, int), np.full(10, 7)]))
    parts = divide(clusters, [31, 40, 20], np.random.default_rng(seed))
    assert [len(part) for part in parts] == [31, 40, 20]
    owners = [set(clusters[part]) for part in parts]
    assert not owners[0] & owners[1] | owners[0] & owners[2] | owners[1] & owners[2]


def test_too_many_rows_are_refused():
    with pytest.raises(InputError, match="only 10"):
        divide(np.arange(10), [6, 6], np.random.default_rng(0))


def test_a_row_in_two_parts_is_refused():
    with pytest.raises(ValueError, match="two parts"):
        Split(np.array([0, 1]), np.array([1, 2]), np.array([3]))


def test_split_survives_the_disk(tmp_path):
    split = Split(np.array([0, 1]), np.array([4]), np.array([3]))
    write_archive(tmp_path / "s.npz", split.arrays())
    assert np.array_equal(Split.load(tmp_path / "s.npz").pool_rows, [3])
