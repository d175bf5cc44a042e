"""What a stream longer than memory costs: seconds and memory of a replay read part by part, at several lengths.

    python -m experiments.bench_long outputs/long 1000000 10000000

writes a synthetic bundle of the largest length into the folder first (k = n = 20, half precision: 0.84 GB a million
rounds), and prints one line a length. The page cache is not counted as memory.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import cams
from cams.files import write_json
from data_prep.pipeline.shell import plain_entry_point

K, POLICIES, CLASSES = 20, 20, 10
# Rows drawn anew; longer streams repeat them in another order, as writing random numbers would take most of the time.
DRAWN = 50_000


def write_bundle(folder: Path, rows: int) -> None:
    """Write a stream on which models are right six times in ten and policies know a little about where."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, DRAWN).astype(np.uint8)
    guesses = rng.integers(0, CLASSES, (DRAWN, K)).astype(np.uint8)
    predictions = np.where(rng.random((DRAWN, K)) < 0.6, labels[:, None], guesses)
    right = (predictions == labels[:, None])[:, None, :]
    scores = np.exp(rng.normal(0, 1, (DRAWN, POLICIES, K)) + right * np.linspace(0, 2, POLICIES)[:, None])
    advice = (scores / scores.sum(axis=2, keepdims=True)).astype(np.float16)
    drawn = {"predictions": predictions, "labels": labels, "advice": advice}
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", array.dtype, (rows, *array.shape[1:]))
        for name, array in drawn.items()
    }
    for start in range(0, rows, DRAWN):
        order = rng.permutation(DRAWN)[: rows - start]
        for name, array in drawn.items():
            files[name][start : start + len(order)] = array[order]
    write_json(folder / "bundle.json", {"num_classes": CLASSES})


def own_megabytes() -> float:
    """Return the memory that belongs to this process alone: no mapped files, no page cache."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


class Peak:
    """The most memory of its own that this process was seen to hold while it was watched."""

    def __enter__(self) -> Peak:
        self.megabytes, self._over = 0.0, threading.Event()
        self._watch = threading.Thread(target=self._look)
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watch.join()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            self.megabytes = max(self.megabytes, own_megabytes())


def asked_for(arguments: list[str]) -> tuple[Path, list[int]]:
    """Return the folder and the lengths of streams."""
    folder, *lengths = arguments or [""]
    if not folder or not lengths or not all(length.isdecimal() and int(length) > 0 for length in lengths):
        given = " ".join(arguments) or "nothing"
        raise cams.InputError(f"`python -m experiments.bench_long` takes FOLDER LENGTH [LENGTH ...], not {given}")
    return Path(folder), [int(length) for length in lengths]


@plain_entry_point
def main(arguments: list[str]) -> None:
    folder, lengths = asked_for(arguments)
    if not (folder / "bundle.json").exists():
        write_bundle(folder, max(lengths))
    stored = cams.StoredBundle(folder)
    print(f"{stored}\n{'rounds':>12} {'seconds':>9} {'CPU us a round':>17} {'own memory, MB':>15}")
    how: dict[str, Any] = {"order": "stream", "budgets": [1000], "realizations": 1, "seed": 0, "progress": False}
    cams.replay(stored, ["cams"], horizon=1000, **how)  # compiles
    for horizon in lengths:
        start = time.perf_counter(), time.process_time()
        with Peak() as peak:
            cams.replay(stored, ["cams"], horizon=horizon, **how)
        seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
        print(f"{horizon:12,} {seconds:9.1f} {1e6 * cpu / horizon:17.2f} {peak.megabytes:15.0f}", flush=True)


if __name__ == "__main__":
    main()
