"""What a stage knows about its run: settings after the scale is applied, places, seeds, workers."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from omegaconf import DictConfig, OmegaConf

from cams.errors import InputError
from data_prep.pipeline.checkpoints import Checkpoints


@dataclass(frozen=True)
class Context:
    """One run of one stage for one data set.

    settings: `zoo` of conf/dataset/<dataset>.yaml with `scales.<scale>` merged over it.
    work, results: the roots under which stages write (`paths.work`, `paths.results`).
    raw: where fetch writes, by default in `work`; it depends on no seed, so several seeds may share it.
    """

    dataset: str
    scale: str
    seed: int
    sharpness: float
    sharpness_check: DictConfig
    labels_check: DictConfig
    prior_check: DictConfig
    precision_check: DictConfig
    n_jobs: int
    settings: DictConfig
    work: Path
    raw: Path
    results: Path

    @classmethod
    def from_config(cls, cfg: DictConfig) -> "Context":
        return cls(
            dataset=cfg.dataset.name,
            scale=cfg.scale.name,
            seed=cfg.seed,
            sharpness=cfg.sharpness,
            sharpness_check=cfg.sharpness_check,
            labels_check=cfg.labels_check,
            prior_check=cfg.prior_check,
            precision_check=cfg.precision_check,
            n_jobs=cfg.n_jobs,
            settings=settings_at_scale(cfg.dataset, cfg.scale.name),
            # Whoever writes checkpoints there may stand in another folder.
            work=Path(cfg.paths.work).absolute(),
            raw=Path(cfg.paths.raw),
            results=Path(cfg.paths.results),
        )

    @property
    def raw_dir(self) -> Path:
        return self.raw / self.dataset

    @property
    def download_dir(self) -> Path:
        return self.work / "downloads" / self.dataset

    def artefact(self, stage: str) -> Path:
        """The one file a stage hands to the next: `<work>/<stage>/<dataset>.npz`."""
        return self.work / stage / f"{self.dataset}.npz"

    def made(self, artefact: str) -> AbstractContextManager[Path]:
        """For reading the file of an earlier stage, which must be there."""
        return self.found(self.artefact(artefact), {"splits": "split"}.get(artefact, artefact))

    def raw_file(self, name: str) -> AbstractContextManager[Path]:
        """For reading a file that fetch wrote, which must be there."""
        return self.found(self.raw_dir / name, "fetch")

    def found(self, path: Path, stage: str) -> AbstractContextManager[Path]:
        """For reading a file: what is refused inside the block is refused in its name, with the stage that makes it."""
        command = f"with the same scale, seed and paths: python -m data_prep.{stage} dataset={self.dataset}"
        if not path.exists():
            raise InputError(f"{path} is missing; run first, {command}")
        return refused_by_name(path, f"make it anew, {command}")

    @property
    def bundle_path(self) -> Path:
        return self.results / "bundles" / f"{self.dataset}.npz"

    def metrics_path(self, stage: str) -> Path:
        return self.results / "metrics" / self.dataset / f"{stage}.json"

    def checkpoints(self, stage: str) -> Checkpoints:
        return Checkpoints(self.work / "checkpoints" / self.dataset / stage)

    def seed_sequence(self, purpose: str, index: int = 0) -> np.random.SeedSequence:
        """Randomness named by its use ("split", "classifier", ...) and which one, never by loop position."""
        spawn_key = (stable_id(self.dataset), stable_id(purpose), index)
        return np.random.SeedSequence(self.seed, spawn_key=spawn_key)

    def rng(self, purpose: str, index: int = 0) -> np.random.Generator:
        return np.random.default_rng(self.seed_sequence(purpose, index))

    def integer_seed(self, purpose: str, index: int = 0) -> int:
        """For libraries that take an integer: scikit-learn's random_state, torch.manual_seed."""
        return int(self.seed_sequence(purpose, index).generate_state(1)[0] >> 1)


@contextmanager
def refused_by_name(path: Path, remedy: str) -> Iterator[Path]:
    try:
        yield path
    except InputError as error:
        place = "" if str(path) in str(error) else f"{path}: "
        raise InputError(f"{place}{error}; {remedy}") from None


def stable_id(name: str) -> int:
    """A number that belongs to the name in every process and version (Python's own hash() does not)."""
    return crc32(name.encode())


def settings_at_scale(dataset: DictConfig, scale: str) -> DictConfig:
    """The data set's `zoo` with `scales.<scale>` merged over it; lists are replaced, not joined."""
    if scale not in dataset.scales:
        known = ", ".join(dataset.scales)
        raise InputError(f"conf/dataset/{dataset.name}.yaml has no scale '{scale}', only {known}")
    merged: Any = OmegaConf.merge(dataset.zoo, dataset.scales[scale] or {})
    OmegaConf.set_readonly(merged, True)
    return merged
