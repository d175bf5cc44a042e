"""ImageNet's five stages on a made folder of images, with networks drawn at random."""

from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from PIL import Image

import cams
from cams.archive import read_archive, write_archive
from data_prep import bundle, classifiers, fetch, policies, split
from data_prep.datasets.imagenet import zoo
from data_prep.datasets.imagenet.zoo import build, features
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Policies, get_dataset

CONF = str(Path(__file__).parents[4] / "conf")
CLASSES, IMAGES = 3, 8


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    rng = np.random.default_rng(0)
    for label in range(CLASSES):
        folder = tmp_path / "mirror" / "imagenet" / "val" / f"n{label:08d}"
        folder.mkdir(parents=True)
        for i in range(IMAGES):
            # Sizes differ, as photographs do; one in four is grey.
            pixels = rng.integers(0, 255, (40 + 8 * i, 50, 3), dtype=np.uint8)
            image = Image.fromarray(pixels)
            (image.convert("L") if i % 4 == 0 else image).save(folder / f"val_{i}.JPEG")
    # What other programs leave behind is no class and no image.
    (folder.parent / ".ipynb_checkpoints").mkdir()
    (folder / "._val_0.JPEG").write_bytes(b"a resource fork")
    monkeypatch.setenv("CAMS_DATA_MIRROR", str(tmp_path / "mirror"))
    places = [f"paths.work={tmp_path / 'data'}", f"paths.results={tmp_path / 'results'}"]
    with initialize_config_dir(CONF, version_base="1.3"):
        cfg = compose("prep", overrides=["dataset=imagenet", "scale=smoke", "n_jobs=1", *places])
    return Context.from_config(cfg)


def test_all_stages_end_in_a_bundle(context: Context) -> None:
    for stage in (fetch, split, classifiers, policies, bundle):
        stage.run(context)
    made = cams.Bundle.load(context.bundle_path)
    assert (made.num_rows, made.num_classes) == (CLASSES * IMAGES - 12, CLASSES)
    assert made.model_names == ["resnet18", "mobilenet_v3_small", "shufflenet_v2_x0_5"]
    assert made.policy_kinds == ["normal", "normal", "malicious", "random"]
    result = cams.replay(made, ["cams", "mp"], horizon=10, budgets=[5], realizations=2, seed=0)
    assert result.loss.shape == (2, 1, 2)
    assert Policies.load(context.artefact("policies")).held_out_rewards.shape == (12, 2, 3)


def test_second_run_reads_checkpoints_unless_an_image_has_changed(context: Context, monkeypatch) -> None:
    fetch.run(context)
    table = get_dataset("imagenet").load(context)
    first = features("resnet18", table, context)
    assert first.shape == (CLASSES * IMAGES, 512)
    with monkeypatch.context() as patched:
        patched.setattr(zoo, "build", None)
        assert np.array_equal(features("resnet18", table, context), first)
    Image.new("RGB", (50, 50)).save(table.inputs[5])
    again = features("resnet18", table, context)
    assert np.flatnonzero((again != first).any(axis=1)).tolist() == [5]
    Path(table.inputs[5]).unlink()
    with pytest.raises(cams.InputError, match=r"cannot read the image .*val_5\.JPEG: No such file"):
        features("resnet18", table, context)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("paths", np.arange(CLASSES * IMAGES), "paths has shape .* expected a list of texts"),
        ("labels", np.zeros(5, int), "array 'labels' has shape"),
        ("class_names", np.array(["n00000000"]), r"expected a class in 0\.\.0"),
    ],
)
def test_a_damaged_index_is_refused_by_name(context: Context, name: str, value: np.ndarray, words: str) -> None:
    fetch.run(context)
    path = context.raw_dir / "index.npz"
    write_archive(path, read_archive(path) | {name: value})
    with pytest.raises(cams.InputError, match=rf"index\.npz: .*{words}.*; make it anew, .* python -m data_prep\.fetch"):
        get_dataset("imagenet").load(context)


def test_missing_class_is_named(context: Context) -> None:
    folder = Path(context.download_dir).parents[2] / "mirror" / "imagenet" / "val" / "n00000002"
    for image in folder.iterdir():
        image.unlink()
    folder.rmdir()
    with pytest.raises(cams.InputError, match="has 2 folders, expected 3"):
        fetch.run(context)


def test_unknown_network_is_refused(context: Context) -> None:
    with pytest.raises(cams.InputError, match="no classification network 'resnet19'"):
        build("resnet19", CLASSES, context)
