"""Damaged files are named, and made anew where they can be: configuration, bundles, records."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from from_shell import call, refusal
from hydra.core.global_hydra import GlobalHydra

# A command knows the place of its configuration once it is imported, and that must be the shipped one.
import experiments.all
import experiments.run  # noqa: F401
from data_prep import fetch
from data_prep.pipeline import catalogue, shell
from experiments.runner import configuration


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of conf that may be damaged; Hydra itself still reads the shipped one, whoever imports first."""
    for module in ("all", "run"):
        importlib.import_module(f"experiments.{module}")
    copy = Path(shutil.copytree(shell.CONF, tmp_path / "conf"))
    shutil.copy(catalogue.ROOT / "params.yaml", tmp_path)
    monkeypatch.setattr(catalogue, "ROOT", tmp_path)
    for module in (shell, configuration):
        monkeypatch.setattr(module, "CONF", copy)
    caches = (catalogue.catalogue, configuration.register_streams, configuration._without_experiment)
    for cached in caches:
        cached.cache_clear()
    yield copy
    for cached in caches:
        cached.cache_clear()


DAMAGED = [
    ("dataset/vertebral.yaml", b"", "is empty, expected names with values"),
    ("dataset/vertebral.yaml", b"\xff\xfe\x00", "is not valid YAML: 'utf-8' codec"),
    ("dataset/vertebral.yaml", b"- a\n", "is no mapping, expected names with values"),
    ("dataset/vertebral.yaml", b"name: vertebral\ntitle: V\n", "says nothing about stream"),
    ("dataset/vertebral.yaml", b"title: V\nstream: {horizon: 5}\n", "lacks the key 'budget'"),
    (
        "dataset/vertebral.yaml",
        b"title: V\nstream: {horizon: 5}\nstream: {horizon: 6}\n",
        "is not valid YAML: it has the key 'stream' twice",
    ),
    ("experiment/main.yaml", b"", "is empty, expected names with values"),
    ("experiment/main.yaml", b"- a\n", "is no mapping, expected names with values"),
    ("experiment/main.yaml", b"a: [", "is not valid YAML"),
    ("experiment/main.yaml", b"name: mian\n", "has the name 'mian', expected 'main', as the file is called"),
]


@pytest.mark.parametrize("module", ["run", "all"])
@pytest.mark.parametrize(("name", "content", "words"), DAMAGED)
def test_a_damaged_configuration_file_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    conf: Path,
    results: Path,
    module: str,
    name: str,
    content: bytes,
    words: str,
) -> None:
    (conf / name).write_bytes(content)
    arguments = ["experiment=main", "dataset=vertebral"] if module == "run" else ["experiments=[main]"]
    (said,) = refusal(monkeypatch, capsys, module, *arguments, results=results).splitlines()
    assert f"conf/{name}" in said
    assert words in said
    assert not list(results.rglob("*.parquet"))


def test_a_file_that_an_editor_has_open_changes_nothing(conf: Path) -> None:
    names, data_sets = configuration.experiment_names(), list(catalogue.catalogue())
    catalogue.catalogue.cache_clear()
    for folder in ("experiment", "dataset", "."):
        (conf / folder / ".#main.yaml").symlink_to("somebody@somewhere.1234")
    assert (configuration.experiment_names(), list(catalogue.catalogue())) == (names, data_sets)
    assert shell.damaged_file(conf) == ""


def test_a_damaged_data_set_is_named_by_preparation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], conf: Path, tmp_path: Path
) -> None:
    (conf / "dataset" / "vertebral.yaml").write_bytes(b"")
    monkeypatch.setattr(sys, "argv", ["fetch.py", "dataset=vertebral", f"paths.work={tmp_path}"])
    GlobalHydra.instance().clear()
    with pytest.raises(SystemExit) as stop:
        fetch.main()
    assert stop.value.code == 2
    assert f"{conf / 'dataset' / 'vertebral.yaml'} is empty" in capsys.readouterr().err


def test_a_damaged_bundle_is_named_and_not_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    bundle = results / "bundles" / "vertebral.npz"
    bundle.write_bytes(bundle.read_bytes()[:500])
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, "all", "experiments=[experts]", "datasets=[vertebral,drift]", results=results)
    assert stop.value.code == 2
    said = capsys.readouterr()
    assert "experts drift: left out" in said.out
    assert "not every record could be made, and experts vertebral is the first of 1: " in said.err


@pytest.mark.parametrize("put", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_named_and_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path, put: Callable[[Path], None]
) -> None:
    record = results / "records/experts/vertebral/seed0.parquet"
    record.parent.mkdir(parents=True)
    put(record)
    everything = ["experiments=[experts]", "datasets=[vertebral]"]
    assert f"cannot write {record}" in refusal(monkeypatch, capsys, "all", *everything, results=results)
    said = refusal(monkeypatch, capsys, "claims.__main__", f"paths.results={results}")
    assert f"the record {record} is damaged; " in said

    bundle = results / "bundles" / "vertebral.npz"
    bundle.unlink()
    put(bundle)
    said = refusal(monkeypatch, capsys, "all", *everything, results=results)
    assert f"{bundle} is not a readable .npz file: it is no plain file" in said


def test_a_damaged_record_is_made_anew_where_it_can_be_and_named_where_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    everything = ["experiments=[experts]", "datasets=[vertebral]", "steps=[replay]"]
    call(monkeypatch, "all", *everything, results=results)
    (record,) = results.glob("records/experts/vertebral/*.parquet")
    whole = record.read_bytes()

    record.write_bytes(whole[: len(whole) // 2])
    said = refusal(monkeypatch, capsys, "claims.__main__", f"paths.results={results}")
    assert f"the record {record} is damaged; " in said
    assert not (results / "claims.json").exists()

    call(monkeypatch, "all", *everything, results=results)
    assert record.read_bytes() == whole

    record.write_bytes(whole[:-1])
    (results / "bundles" / "vertebral.npz").unlink()
    said = refusal(monkeypatch, capsys, "all", *everything, results=results)
    assert "experts vertebral is the first of 1" in said
    assert "damaged" in said
