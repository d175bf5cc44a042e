"""Sweeps that go on: a failed job is noted, the others run, and the failures are named at the end."""

from __future__ import annotations

import json
import os
import shutil
import sys
import traceback
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from data_prep.pipeline.shell import BAD_INPUT, REFUSED, sentence_of

FAILED = 1
# Names a sweep to its workers, which inherit it: another one may run in the same folder.
SWEEP = "CAMS_SWEEP"


def _notes(hydra_config: Any) -> Path:
    return Path(hydra_config.sweep.dir) / "failures" / os.environ[SWEEP]


@contextmanager
def recording_failures() -> Iterator[None]:
    """Note an exception of this job in a file, which workers of any launcher can share, and go on."""
    try:
        yield
    except Exception as error:
        config = HydraConfig.get()
        note = {
            "job": " ".join(config.overrides.task),
            "error": sentence_of(error) if isinstance(error, REFUSED) else f"{type(error).__name__}: {error}",
            "code": BAD_INPUT if isinstance(error, REFUSED) else FAILED,
        }
        if note["code"] == FAILED:
            traceback.print_exc()
        folder = _notes(config)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{config.job.num:05d}.json").write_text(json.dumps(note))


class NameFailures(Callback):
    """Hydra callback: clear the notes when a sweep starts, read them out when it ends."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        # Where Slurm keeps no accounts its launcher would warn of that every few seconds, and waits for files anyway.
        os.environ.setdefault("SUBMITIT_LOG_LEVEL", "ERROR")
        os.environ.setdefault(SWEEP, uuid.uuid4().hex[:12])
        shutil.rmtree(_notes(config.hydra), ignore_errors=True)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        notes = [json.loads(path.read_text()) for path in sorted(_notes(config.hydra).glob("*.json"))]
        shutil.rmtree(_notes(config.hydra), ignore_errors=True)
        if not notes:
            return
        print(f"{len(notes)} job(s) of the sweep failed, the others are done:", file=sys.stderr)
        for note in notes:
            print(f"  {note['job']}: {note['error'].splitlines()[0]}", file=sys.stderr)
        raise SystemExit(max(note["code"] for note in notes))
