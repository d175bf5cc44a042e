"""Weights of trained networks as checkpoints keep them."""

import pickle
from pathlib import Path
from typing import Any

import torch

from cams.errors import InputError
from data_prep.pipeline.checkpoints import DELETE


def load_weights(path: Path) -> Any:
    """What `torch.save` wrote; a damaged file is refused by name."""
    try:
        return torch.load(path, weights_only=True)
    except (RuntimeError, EOFError, OSError, ValueError, pickle.UnpicklingError):
        raise InputError(f"{path} holds no readable weights; {DELETE}") from None
