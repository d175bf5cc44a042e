"""Sources are tried in order, fail fast, leave no half file, and say what to do when none is left."""

import hashlib
import sys
import tarfile
import zipfile

import pytest

from cams import InputError
from data_prep.pipeline.sources import (
    Mirror,
    NpmPackage,
    Official,
    SourceError,
    download_with,
    first_available,
    open_member,
    require,
)


def read(path):
    return path.read_text()


def test_mirror_before_drop_folder(tmp_path, monkeypatch):
    (tmp_path / "mirror" / "set").mkdir(parents=True)
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "file.txt").write_text("dropped")
    monkeypatch.setenv("CAMS_DATA_MIRROR", str(tmp_path / "mirror"))
    assert Mirror("set/file.txt").obtain(tmp_path / "downloads").read_text() == "dropped"
    (tmp_path / "mirror" / "set" / "file.txt").write_text("mirrored")
    assert Mirror("set/file.txt").obtain(tmp_path / "downloads").read_text() == "mirrored"


@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_a_mirror_that_is_not_there_is_said_before_any_source_is_read(place, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("CAMS_DATA_MIRROR", str(tmp_path / place))
    words = f"CAMS_DATA_MIRROR is {tmp_path / place}, expected a folder that is there"
    for candidates in ([(Mirror("file"), read)], [(Official("file:///nowhere"), read), (Mirror("file"), read)]):
        with pytest.raises(InputError, match=words):
            first_available("drift", "a file", tmp_path, candidates)


def test_bad_content_falls_through_to_the_next_source_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CAMS_DATA_MIRROR", str(tmp_path))
    for name, text in (("a", "3 rows"), ("b", "310 rows")):
        (tmp_path / name).write_text(text)

    def parse(path):
        require(read(path) == "310 rows", f"has {read(path)}, expected 310 rows")
        return path.name

    candidates = [(Mirror("missing"), parse), (Mirror("a"), parse), (Mirror("b"), parse)]
    assert first_available("vertebral", "310 rows", tmp_path, candidates) == "b"
    told = capsys.readouterr().err.splitlines()
    assert told[0] == f"vertebral: {tmp_path / 'a'} is not used: has 3 rows, expected 310 rows"
    # A source that is simply not there is no surprise.
    assert len(told) == 2


def test_no_source_names_the_file_the_content_and_the_place(tmp_path, monkeypatch):
    monkeypatch.delenv("CAMS_DATA_MIRROR", raising=False)
    with pytest.raises(InputError) as refusal:
        first_available("drift", "ten batches", tmp_path / "downloads", [(Mirror("drift/batch1.dat"), read)])
    for part in ("drift/batch1.dat", "ten batches", "CAMS_DATA_MIRROR", str(tmp_path / "downloads")):
        assert part in str(refusal.value)


def test_an_unreachable_host_is_a_source_error_and_leaves_nothing(tmp_path):
    # Port 9 of this machine: refused at once, no network involved.
    with pytest.raises(SourceError, match=r"127\.0\.0\.1"):
        Official("http://127.0.0.1:9/data.zip").obtain(tmp_path)
    assert not [file for file in tmp_path.iterdir() if file.stat().st_size]


def writer(text: str) -> list[str]:
    return [sys.executable, "-c", f"open('package.bin', 'w').write({text!r})"]


def test_a_wrong_checksum_keeps_nothing(tmp_path):
    with pytest.raises(SourceError, match="sha256"):
        download_with(writer("tampered"), tmp_path, hashlib.sha256(b"genuine").hexdigest())
    assert not list(tmp_path.iterdir())


def test_a_download_is_kept_and_used_again(tmp_path):
    sha256 = hashlib.sha256(b"genuine").hexdigest()
    path = download_with(writer("genuine"), tmp_path, sha256)
    assert path.read_text() == "genuine"
    assert download_with(["no-such-command"], tmp_path, sha256) == path
    path.unlink()
    assert download_with(writer("genuine"), tmp_path, sha256) == path


def test_a_missing_tool_is_a_source_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SourceError, match="npm is not installed"):
        NpmPackage("package@1.0.0", "0" * 64).obtain(tmp_path)


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_members_are_read_in_place(tmp_path, kind):
    (tmp_path / "inside.txt").write_text("content")
    archive = tmp_path / f"archive.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(archive, "w") as container:
            container.write(tmp_path / "inside.txt", "../escape.txt")
    else:
        with tarfile.open(archive, "w:gz") as container:
            container.add(tmp_path / "inside.txt", "../escape.txt")
    with open_member(archive, "../escape.txt") as stream:
        assert stream.read() == b"content"
    assert not (tmp_path.parent / "escape.txt").exists()
    with pytest.raises(SourceError, match="absent"), open_member(archive, "absent.txt"):
        pass
