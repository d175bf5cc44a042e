"""What the tests of the experiments share: the small bundle, alone and in a results folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_bundle import make_bundle

import cams


@pytest.fixture(scope="session")
def bundle() -> cams.Bundle:
    return make_bundle()


@pytest.fixture
def results(tmp_path: Path, bundle: cams.Bundle) -> Path:
    """A results folder whose only bundle calls itself VERTEBRAL."""
    bundles = tmp_path / "results" / "bundles"
    bundles.mkdir(parents=True)
    bundle.save(bundles / "vertebral.npz")
    return tmp_path / "results"
