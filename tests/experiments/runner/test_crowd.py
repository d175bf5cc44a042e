"""Bad classifiers added to a bundle: who they are, and that nothing else changes."""

from __future__ import annotations

import numpy as np

import cams
from experiments.runner.crowd import with_copies, with_different
from experiments.runner.plan import Case
from experiments.runner.preparation import prepare_bundle


def error_rates(bundle: cams.Bundle) -> np.ndarray:
    return (bundle.predictions != bundle.labels[:, None]).mean(axis=0)


def test_copies_are_of_the_worst_classifier(bundle: cams.Bundle) -> None:
    crowded = prepare_bundle(bundle, Case(copies=3), seed=0)
    worst = int(error_rates(bundle).argmax())
    assert crowded.num_models == bundle.num_models + 3
    for column in crowded.predictions.T[bundle.num_models :]:
        np.testing.assert_array_equal(column, bundle.predictions[:, worst])
    np.testing.assert_array_equal(crowded.advice[:, :, : bundle.num_models], bundle.advice)
    assert not crowded.advice[:, :, bundle.num_models :].any()
    assert len(set(crowded.model_names)) == crowded.num_models


def test_different_ones_are_bad_and_agree_more_with_each_other_than_with_the_truth(bundle: cams.Bundle) -> None:
    crowded = with_different(bundle, 4, seed=0)
    added = crowded.predictions[:, bundle.num_models :]
    assert error_rates(crowded)[bundle.num_models :].min() > 0.7
    agreement = (added[:, :, None] == added[:, None, :]).mean(axis=0)[np.triu_indices(4, 1)]
    assert 0.4 < agreement.min() <= agreement.max() < 0.8
    larger = with_different(bundle, 6, seed=0)
    np.testing.assert_array_equal(larger.predictions[:, : crowded.num_models], crowded.predictions)
    assert (with_different(bundle, 4, seed=1).predictions != crowded.predictions).any()


def test_nobody_added_changes_nothing(bundle: cams.Bundle) -> None:
    for same in (with_copies(bundle, 0), with_different(bundle, 0, seed=0)):
        np.testing.assert_array_equal(same.predictions, bundle.predictions)
        np.testing.assert_array_equal(same.advice, bundle.advice)
