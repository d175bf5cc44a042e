"""What a stage reads is checked where it is read: damage is refused in the name of its file, and nothing is written."""

import shutil

import numpy as np
import pytest

from cams import InputError
from cams.archive import read_archive, write_archive
from data_prep import bundle, classifiers, labels, policies, precision, prior, sharpness, split
from data_prep.datasets.tabular.table import save_table
from data_prep.pipeline.catalogue import catalogue
from data_prep.pipeline.dataset import Table
from data_prep.pipeline.stamps import require_made_with, stamp
from tests.data_prep.conftest import context_for

TINY = {
    "split": {"pool": 20, "policy": 16, "classifier": 12},
    "classifiers": {"members": [{"name": name, "family": "decision_tree", "subsample": {}} for name in ("one", "two")]},
    "policies": {
        "folds": 2,
        "members": [{"name": name, "kind": "normal", "family": "ridge"} for name in ("ridge", "other")],
        "malicious": ["ridge"],
        "random": 1,
    },
}
RAW, SPLITS, CLASSIFIERS, POLICIES, BUNDLE = (
    "data/raw/vertebral/table.npz",
    *(f"data/{stage}/vertebral.npz" for stage in ("splits", "classifiers", "policies")),
    "results/bundles/vertebral.npz",
)
MAKERS = {RAW: "fetch", SPLITS: "split", CLASSIFIERS: "classifiers", POLICIES: "policies", BUNDLE: "bundle"}
# Every stage that reads a file of another one.
READERS = {
    RAW: (split, classifiers, policies, bundle, labels, prior, sharpness, precision),
    SPLITS: (classifiers, policies, bundle, labels, prior, sharpness, precision),
    CLASSIFIERS: (policies, bundle, labels, prior, sharpness, precision),
    POLICIES: (bundle, labels, prior, sharpness, precision),
    BUNDLE: (precision,),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """All stages done on 60 rows of 2 classes."""
    folder = tmp_path_factory.mktemp("finished")
    context = context_for("vertebral", folder, **TINY)
    features = np.random.default_rng(0).normal(size=(60, 3))
    save_table(Table(features, (features[:, 0] > 0).astype(int), 2, groups=np.arange(60) % 4), context)
    for stage in (split, classifiers, policies, bundle):
        stage.run(context)
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy")


def damage(path, array, change):
    """Store another value under the name of an array, or nothing."""
    arrays = read_archive(path)
    found = arrays.pop(array)
    write_archive(path, arrays | ({} if change is None else {array: change(found)}))


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def texts(array):
    return array.astype(str)


def shorter(array):
    return array[:-3]


def elsewhere(array):
    return array + 1000


def without_value(array):
    return np.full(array.shape, np.nan)


DAMAGES = [
    (RAW, "features", None, "there is no array 'features'"),
    (RAW, "features", texts, "features has shape (60, 3) and type <U32, expected numbers (any, any)"),
    (RAW, "features", without_value, "features has a value that is not finite"),
    (RAW, "features", shorter, "array 'labels' has shape (60,), expected (57)"),
    (RAW, "labels", None, "there is no array 'labels'"),
    (RAW, "labels", texts, "labels has shape (60,) and type <U21, expected a list of whole numbers"),
    (RAW, "labels", elsewhere, "expected a class in 0..1"),
    (RAW, "num_classes", texts, "num_classes is '2', expected a whole number"),
    (RAW, "num_classes", lambda count: count - 2, "num_classes is 0, expected a whole number of at least 1"),
    (RAW, "groups", shorter, "groups has shape (57,) and type int64, expected numbers (60,)"),
    (SPLITS, "policy_rows", None, "there is no array 'policy_rows'"),
    (SPLITS, "policy_rows", elsewhere, "expected rows in 0..59"),
    (SPLITS, "pool_rows", lambda rows: rows - 60, "expected rows in 0..59"),
    (SPLITS, "policy_rows", texts, "policy_rows has shape (16,) and type <U21, expected a list of whole numbers"),
    (SPLITS, "pool_rows", lambda rows: rows[:, None], "pool_rows has shape (20, 1) and type int64, expected a list"),
    (SPLITS, "classifier_rows", shorter, "classifier_rows has 9 rows, expected 12"),
    (SPLITS, "pool_rows", lambda rows: rows[[0, *range(19)]], "a row is in two parts of the split, or twice in one"),
    (CLASSIFIERS, "model_names", None, "there is no array 'model_names'"),
    (CLASSIFIERS, "model_names", lambda names: names[:1], "expected numbers (16, 1)"),
    (CLASSIFIERS, "model_names", lambda names: names[[0, 0]], "model_names has the name 'one' twice"),
    (CLASSIFIERS, "model_names", lambda _: np.arange(2), "expected a list of texts"),
    (CLASSIFIERS, "pool_predictions", None, "there is no array 'pool_predictions'"),
    (CLASSIFIERS, "policy_predictions", elsewhere, "policy_predictions[0, 0] is"),
    (CLASSIFIERS, "pool_predictions", shorter, "pool_predictions has shape (17, 2) and type int32, expected"),
    (CLASSIFIERS, "pool_predictions", without_value, "pool_predictions[0, 0] is nan, expected a whole number"),
    (POLICIES, "names", None, "there is no array 'names'"),
    (POLICIES, "names", lambda names: names[:1], "kinds has 2 entries, expected 1, as many as names"),
    (POLICIES, "kinds", lambda kinds: np.array(["normal", "evil"]), "kinds has 'evil', expected normal or biased"),
    (POLICIES, "rewards", None, "there is no array 'rewards'"),
    (POLICIES, "rewards", without_value, "rewards has values outside 0..1"),
    (POLICIES, "rewards", shorter, "rewards has shape (17, 2, 2) and type float16, expected numbers (20, any, 2)"),
    (POLICIES, "rewards", lambda rewards: rewards[:, :1], "names has 2 entries, expected one for each of 1 policies"),
    (POLICIES, "held_out", elsewhere, "held_out has row 1000, expected rows in 0..15"),
    (POLICIES, "held_out", lambda rows: rows // 2, "held_out has a row twice"),
    (POLICIES, "held_out_rewards", without_value, "held_out_rewards has values outside 0..1"),
    (POLICIES, "held_out_rewards", texts, "expected numbers (16, 2, 2)"),
    (BUNDLE, "predictions", lambda votes: 1 - votes, "it was made from other classifiers or policies than those"),
    (BUNDLE, "policy_names", lambda names: names[::-1], "it was made from other classifiers or policies than those"),
]


@pytest.mark.parametrize(("file", "array", "change", "words"), DAMAGES)
def test_damage_is_refused_by_every_stage_that_reads_it(file, array, change, words, folder):
    damage(folder / file, array, change)
    before, context = files(folder), context_for("vertebral", folder, **TINY)
    for stage in READERS[file]:
        with pytest.raises(InputError) as refusal:
            stage.run(context)
        told = str(refusal.value)
        assert told.startswith(f"{folder / file}: ")
        assert told.count(str(folder)) == 1
        assert words in told
        assert told.endswith(f"paths: python -m data_prep.{MAKERS[file]} dataset=vertebral")
    assert files(folder) == before


OTHERS = [
    (["seed=1"], {}, SPLITS, "it was made with seed=0, expected 1"),
    ([], {"split": {"policy": 12}}, SPLITS, "it was made with split.policy=16, expected 12"),
    ([], {"classifiers": {"members": TINY["classifiers"]["members"][:1]}}, CLASSIFIERS, "another classifiers.members"),
    ([], {"policies": {"folds": 3}}, POLICIES, "it was made with policies.folds=2, expected 3"),
]


@pytest.mark.parametrize(("overrides", "settings", "file", "words"), OTHERS)
def test_what_was_made_with_other_settings_is_refused(overrides, settings, file, words, folder):
    changed = {part: {**TINY[part], **settings.get(part, {})} for part in TINY}
    before, context = files(folder), context_for("vertebral", folder, *overrides, **changed)
    for stage in READERS[file]:
        with pytest.raises(InputError) as refusal:
            stage.run(context)
        assert str(refusal.value).startswith(f"{folder / file}: ")
        assert words in str(refusal.value)
    assert files(folder) == before


def test_what_an_artefact_does_not_depend_on_may_change(folder):
    later = {**TINY, "policies": {**TINY["policies"], "folds": 3}}
    policies.run(context_for("vertebral", folder, **later))
    later["policies"] |= {"malicious": [], "random": 3, "margin": 0.5}
    bundle.run(context_for("vertebral", folder, "sharpness=7", "labels_check.few=3", **later))


@pytest.mark.parametrize("dataset", catalogue())
def test_without_a_stamp_a_file_is_what_the_shipped_settings_make(dataset, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shipped = context_for(dataset, tmp_path)
    path = tmp_path / "copy.npz"
    write_archive(path, stamp("policies", shipped))
    for artefact in ("splits", "classifiers", "policies"):
        assert stamp(artefact, shipped) == {}
        require_made_with(artefact, path, shipped)
        with pytest.raises(InputError, match="it was made with seed=0, expected 1"):
            require_made_with(artefact, path, context_for(dataset, tmp_path, "seed=1"))


@pytest.mark.parametrize("text", ["nonsense", "[1]", "3", "[" * 100_000], ids=len)
def test_a_damaged_stamp_is_refused(text, folder):
    damage(folder / SPLITS, "made_with", lambda _: np.array(text))
    with pytest.raises(InputError, match=r"splits/vertebral\.npz: array 'made_with' does not say"):
        classifiers.run(context_for("vertebral", folder, **TINY))


def test_an_unreadable_file_names_the_stage_that_makes_it(folder):
    (folder / CLASSIFIERS).write_bytes(b"cut")
    with pytest.raises(InputError, match=r"vertebral\.npz is not a readable .* python -m data_prep\.classifiers"):
        bundle.run(context_for("vertebral", folder, **TINY))
