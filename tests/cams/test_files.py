"""Files are whole or absent; a folder that takes none is refused in one sentence."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cams
from cams.archive import read_archive, write_archive
from cams.files import atomic_path, require_writable, write_json, write_text
from tests.cams.three_rows import bundle, replay


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(fault: type[BaseException], tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    write_json(path, {"old": 1})

    def write_half() -> None:
        with atomic_path(path) as temporary:
            temporary.write_text("half")
            raise fault

    with pytest.raises(fault):
        write_half()
    assert _names(tmp_path) == ["metrics.json"]
    assert path.read_text() == '{\n "old": 1\n}\n'


def test_a_folder_is_made_and_the_suffix_stays_last(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "a" / "b" / "x.npy") as temporary:
        assert temporary.suffix == ".npy"
        np.save(temporary, np.arange(3))
    assert _names(tmp_path / "a" / "b") == ["x.npy"]


@pytest.mark.usefixtures("plain_ascii")
def test_text_is_written_as_utf_8_wherever_that_is(tmp_path: Path) -> None:
    write_text(tmp_path / "page.md", "Rényi")
    assert (tmp_path / "page.md").read_bytes() == "Rényi".encode()


def test_a_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    write_archive(tmp_path / "b.npz", {"x": np.arange(3)})
    assert (tmp_path / "b.npz").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_full_disk_is_one_sentence_and_the_old_file_stays(tmp_path: Path, monkeypatch: Any) -> None:
    write_text(tmp_path / "page.md", "old")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(cams.InputError, match=r"^cannot write .*page.md: No space left on device$"):
        write_text(tmp_path / "page.md", "new")
    assert (tmp_path / "page.md").read_text() == "old"
    assert _names(tmp_path) == ["page.md"]


def test_what_is_new_is_on_disk_before_it_takes_the_place_of_the_old(tmp_path: Path, monkeypatch: Any) -> None:
    write_text(tmp_path / "page.md", "old")
    order = []

    def sync(file: int) -> None:
        order.append(("on disk", os.fstat(file).st_ino))

    def rename(source: Path, target: Path) -> None:
        order.append(("renamed", source.stat().st_ino))
        source.rename(target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", rename)
    write_text(tmp_path / "page.md", "new")
    inode = (tmp_path / "page.md").stat().st_ino
    assert order == [("on disk", inode), ("renamed", inode)]


def test_a_place_that_takes_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(cams.InputError, match=r"^cannot write .*x.txt: Not a directory$"):
        write_text(tmp_path / "file" / "deep" / "x.txt", "")
    with pytest.raises(cams.InputError, match=r"^cannot write to .*deep: Not a directory$"):
        require_writable(tmp_path / "file" / "deep")
    for _ in range(2):
        require_writable(tmp_path / "new" / "deep")
    assert _names(tmp_path / "new" / "deep") == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that takes no file even from root")
def test_a_folder_that_is_there_and_takes_no_file_is_refused() -> None:
    with pytest.raises(cams.InputError, match=r"^cannot write to /proc/self: "):
        require_writable("/proc/self")


def test_many_writers_of_one_file_leave_one_whole_file(tmp_path: Path) -> None:
    texts = [str(i) * 10_000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_text(tmp_path / "x", text), texts))
    assert (tmp_path / "x").read_text() in texts
    assert _names(tmp_path) == ["x"]


def test_equal_arrays_make_equal_bytes_under_any_name(tmp_path: Path) -> None:
    for name in ("a.npz", "b"):
        write_archive(tmp_path / name, {"x": np.arange(3), "names": ["p", "q"]})
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b").read_bytes()
    assert read_archive(tmp_path / "b")["names"].tolist() == ["p", "q"]


def test_arrays_that_need_pickle_are_refused(tmp_path: Path) -> None:
    with pytest.raises(cams.InputError, match="array 'bad' has type object"):
        write_archive(tmp_path / "a.npz", {"bad": np.array([{}], dtype=object)})
    assert _names(tmp_path) == []


def test_a_link_stays_one_and_what_it_points_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_what_only_its_owner_may_read_stays_so(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch(mode=0o600)
    write_text(tmp_path / "mine.txt", "new")
    assert (tmp_path / "mine.txt").stat().st_mode & 0o777 == 0o600


def test_a_name_may_be_as_long_as_any(tmp_path: Path) -> None:
    write_text(tmp_path / f"{'x' * 251}.txt", "new")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


@pytest.mark.parametrize("name", ["x" * 252 + ".png", "é" * 126 + ".png", "x" * 256 + "/a.png", "\ud800.png"])
def test_a_name_that_no_file_has_is_refused_by_whoever_reads_or_writes(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    for call in (replay().plot, replay().save, bundle().save, cams.Bundle.load):
        with pytest.raises(cams.InputError) as caught:
            call(path)
        too_long = "\ud800" not in name
        assert str(caught.value) == (f"{path}: File name too long" if too_long else f"{path!r} is no name of a file")
    assert _names(tmp_path) == []


def test_a_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    for call in (replay().plot, bundle().save):
        with pytest.raises(cams.InputError, match=r"File name too long$"):
            call(tmp_path / ("a/" * 2500) / "a.png")
