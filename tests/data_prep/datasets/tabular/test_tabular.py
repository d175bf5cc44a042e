"""Specialists and policies on a small table: skewed rows, honest held-out rewards, the same on any workers."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from cams import Bundle, InputError, tables
from cams.archive import read_archive, write_archive
from data_prep import bundle, labels
from data_prep.datasets.tabular import table as tabular
from data_prep.datasets.tabular.classifiers import subsample, train_classifiers
from data_prep.datasets.tabular.policies import fit_predict, train_policies
from data_prep.pipeline.artefacts import keep
from data_prep.pipeline.dataset import Policies
from data_prep.pipeline.sources import SourceError
from data_prep.training import estimators
from data_prep.training.cross_fit import Lesson, predict_once, stored_form
from tests.data_prep.conftest import context_for

SMALL = {
    "split": {"pool": 120, "policy": 120, "classifier": 120},
    "classifiers": {
        "members": [
            {"name": "tree", "family": "decision_tree", "subsample": {"rows": 30, "class_weights": [1, 1, 0]}},
            {"name": "process", "family": "gaussian_process", "subsample": {"rows": 30, "class_weights": [0, 1, 1]}},
            {"name": "knn", "family": "knn", "subsample": {"groups": [0, 2]}},
        ]
    },
    "policies": {
        "folds": 3,
        "members": [
            {"name": "forest", "kind": "normal", "family": "random_forest", "params": {"n_estimators": 20}},
            {"name": "near", "kind": "normal", "family": "radius_neighbours", "params": {"radius": 0.5}},
        ],
        "malicious": ["forest"],
        "random": 2,
    },
}


def train(table, context):
    split = tabular.split(table, context)
    classifiers = train_classifiers(table, split, context)
    return split, classifiers, train_policies(table, split, classifiers, context)


def test_specialists_know_their_classes_only(table, tmp_path):
    _, classifiers, _ = train(table, context_for("vertebral", tmp_path, **SMALL))
    assert classifiers.pool_predictions.shape == (120, 3)
    assert set(classifiers.pool_predictions[:, 0]) <= {0, 1}
    assert set(classifiers.pool_predictions[:, 1]) <= {1, 2}


def test_policies_learn_who_is_right(table, tmp_path):
    split, classifiers, policies = train(table, context_for("vertebral", tmp_path, **SMALL))
    check = bundle.context_pays(classifiers, policies, table.labels[split.policy_rows], margin=0.0)
    assert policies.held_out_rewards.shape == (120, 2, 3)
    assert check["best_normal_policy"] > 0.9


def test_results_do_not_depend_on_workers_and_resume_from_checkpoints(table, tmp_path, monkeypatch):
    _, one, policies_one = train(table, context_for("vertebral", tmp_path / "a", **SMALL))
    two_workers = context_for("vertebral", tmp_path / "b", "n_jobs=2", **SMALL)
    _, two, policies_two = train(table, two_workers)
    assert np.array_equal(one.pool_predictions, two.pool_predictions)
    assert np.array_equal(policies_one.pool_rewards.values, policies_two.pool_rewards.values)

    def must_not_train(*_):
        raise AssertionError("trained again")

    monkeypatch.setattr(BaseEstimator, "fit", must_not_train, raising=False)
    monkeypatch.setattr(estimators, "make_estimator", must_not_train)
    _, again, _ = train(table, context_for("vertebral", tmp_path / "b", **SMALL))
    assert np.array_equal(again.pool_predictions, two.pool_predictions)


def test_rows_with_other_values_are_predicted_anew(table, tmp_path):
    context, elsewhere = (context_for("vertebral", tmp_path / name, **SMALL) for name in ("a", "b"))
    split = tabular.split(table, context)
    train_classifiers(table, split, context)
    for rows in (split.pool_rows, split.policy_rows):
        table.inputs[rows] = table.inputs[rows][::-1]
        again, fresh = (train_classifiers(table, split, each) for each in (context, elsewhere))
        assert np.array_equal(again.pool_predictions, fresh.pool_predictions)
        assert np.array_equal(again.policy_predictions, fresh.policy_predictions)


def test_a_policy_is_trained_anew_for_other_labels(tmp_path):
    """Its rows may be drawn by the weight of their class, so labels matter beside rewards."""
    context = context_for("vertebral", tmp_path)
    rows = np.eye(2)
    told = [
        predict_once(labels_told, {"name": "biased"}, 0, Lesson(rows, np.array(labels), rows), rows, context)
        for labels in ([0, 1], [1, 0])
    ]
    assert told[0].tolist() == [0, 1]
    assert told[1].tolist() == [1, 0]


def labels_told(_member, lesson, _features, _seed):
    return lesson.labels


def test_held_out_rewards_come_from_models_that_have_not_seen_the_row(table, tmp_path):
    """With labels of pure noise a policy that had seen a row would know its reward."""
    noisy = tabular.Table(table.inputs, np.random.default_rng(1).integers(0, 3, 400), 3, table.groups)
    memory = {
        "folds": 3,
        "members": [{"name": "nearest", "kind": "normal", "family": "knn", "params": {"n_neighbors": 1}}],
        "malicious": [],
        "random": 0,
    }
    context = context_for("vertebral", tmp_path, **{**SMALL, "policies": memory})
    split, classifiers, policies = train(noisy, context)
    right = classifiers.policy_predictions == noisy.labels[split.policy_rows][:, None]
    assert np.mean((policies.held_out_rewards[:, 0] > 0.5) == right) < 0.8


def test_subsample_weights_groups_and_counts(table):
    rows = subsample(
        {"rows": 50, "class_weights": [1, 0, 1], "groups": [1]}, table, np.arange(400), np.random.default_rng(0)
    )
    assert len(rows) == len(set(rows)) == 50
    assert set(table.labels[rows]) <= {0, 2}
    assert set(table.groups[rows]) == {1}
    with pytest.raises(InputError, match="matches no row"):
        subsample({"groups": [99]}, table, np.arange(400), np.random.default_rng(0))


def test_a_row_without_neighbours_gets_the_mean_reward():
    rewards = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    lesson = Lesson(np.arange(4.0)[:, None], np.zeros(4, int), rewards)
    member = {"name": "near", "family": "radius_neighbours", "params": {"radius": 0.1}}
    assert fit_predict(member, lesson, np.array([[1000.0]]), seed=0).tolist() == [[0.75, 0.25]]


def test_chunks_do_not_change_predictions(monkeypatch, table):
    model = estimators.make_estimator(estimators.CLASSIFIERS, "gaussian_process", {}, 0)
    model.fit(table.inputs[:60], table.labels[:60])
    whole = estimators.predict_in_chunks(model, table.inputs)
    monkeypatch.setattr(tables, "CHUNK_ROWS", 7)
    assert np.array_equal(estimators.predict_in_chunks(model, table.inputs), whole)


def test_unknown_families_and_parameters_are_refused():
    with pytest.raises(InputError, match="did you mean 'random_forest'"):
        estimators.make_estimator(estimators.CLASSIFIERS, "random_forrest", {}, 0)
    with pytest.raises(InputError, match="n_tree"):
        estimators.make_estimator(estimators.CLASSIFIERS, "random_forest", {"n_tree": 3}, 0)


def test_bundle_holds_trained_malicious_and_random_policies(table, tmp_path):
    context = context_for("vertebral", tmp_path, **SMALL)
    tabular.save_table(table, context)
    split, classifiers, policies = train(table, context)
    keep(split, "splits", context)
    keep(classifiers, "classifiers", context)
    keep(policies, "policies", context)
    bundle.run(context)
    loaded = Bundle.load(context.bundle_path)
    assert loaded.policy_kinds == ["normal", "normal", "malicious", "random", "random"]
    assert np.array_equal(loaded.labels, table.labels[split.pool_rows])
    assert np.array_equal(loaded.groups, table.groups[split.pool_rows])
    assert np.allclose(loaded.advice.sum(axis=2), 1, atol=1e-3)
    # A malicious policy ranks classifiers the other way round.
    favourites = loaded.advice[:, 0].argmax(axis=1)[:, None]
    given = np.take_along_axis(loaded.advice[:, 2], favourites, axis=1)[:, 0]
    assert np.array_equal(given, loaded.advice[:, 2].min(axis=1))


def test_policies_survive_the_disk(table, tmp_path):
    _, _, policies = train(table, context_for("vertebral", tmp_path, **SMALL))
    write_archive(tmp_path / "p.npz", policies.arrays())
    again = Policies.load(tmp_path / "p.npz")
    assert again.names == policies.names
    assert np.array_equal(again.pool_rewards.values, policies.pool_rewards.values)


def test_stored_forms():
    rewards = np.array([0.0, 0.5, 1.0], dtype=np.float32)
    assert stored_form(rewards, "uint8").tolist() == [0, 128, 255]
    assert stored_form(rewards, "float16").dtype == np.float16
    with pytest.raises(InputError, match="expected float32, float16 or uint8"):
        stored_form(rewards, "int4")


def test_a_table_is_checked_before_it_is_kept(table):
    counts = np.bincount(table.labels).tolist()
    tabular.table_from(table.inputs, table.labels, (400, 5), counts)
    for shape, expected, word in (((400, 6), counts, "shape"), ((400, 5), counts[::-1], "class counts")):
        with pytest.raises(SourceError, match=word):
            tabular.table_from(table.inputs, table.labels, shape, expected)
    with pytest.raises(SourceError, match="hash"):
        tabular.table_from(table.inputs, table.labels, (400, 5), counts, table_hash="0" * 64)


def test_artefacts_hold_no_pickle(table, tmp_path):
    split = tabular.split(table, context_for("vertebral", tmp_path, **SMALL))
    write_archive(tmp_path / "split.npz", split.arrays())
    assert set(read_archive(tmp_path / "split.npz")) == {"classifier_rows", "policy_rows", "pool_rows"}


def test_labels_stage_tells_how_far_labels_matter(table, tmp_path):
    context = context_for("vertebral", tmp_path, "labels_check.realizations=5", **SMALL)
    tabular.save_table(table, context)
    split, classifiers, policies = train(table, context)
    keep(split, "splits", context)
    keep(classifiers, "classifiers", context)
    keep(policies, "policies", context)
    labels.run(context)
    found = json.loads(context.metrics_path("labels").read_text())
    assert found["rounds"] == len(policies.held_out)
    assert found["few_labels"] == 10 <= found["all_labels"] <= found["rounds"]
    # One normal policy in five against an opposite and two random ones: without a label they drown it.
    assert found["errors_no_label"] > found["errors_all_labels"]
