"""torchvision's pretrained networks over a list of images: predicted labels, and features for policies."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

from cams.errors import InputError
from data_prep.pipeline.context import Context, stable_id
from data_prep.pipeline.dataset import Table
from data_prep.training.seeding import seeded
from data_prep.training.torchvision_shim import models, transforms

Transform = Callable[[Image.Image], torch.Tensor]


class ImageFiles(Dataset):
    """Images read and transformed one by one, so that memory holds a batch and no more."""

    def __init__(self, paths: np.ndarray, transform: Transform) -> None:
        self.paths, self.transform = paths, transform

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> torch.Tensor:
        with Image.open(self.paths[index]) as image:
            return self.transform(image.convert("RGB"))


def predict(name: str, table: Table, context: Context) -> np.ndarray:
    """The labels (M,) that one network gives to all images, from its checkpoint if it was asked before."""

    def compute() -> dict[str, np.ndarray]:
        network, transform = build(name, table.num_classes, context)
        return {
            "labels": np.concatenate([batch.argmax(1).numpy() for batch in outputs(network, transform, table, context)])
        }

    return context.checkpoints("classifiers").arrays(name, key_of(name, table, context), compute)["labels"]


def features(name: str, table: Table, context: Context) -> np.ndarray:
    """What one network's last layer sees of all images, (M, d) float16."""

    def compute() -> dict[str, np.ndarray]:
        network, transform = build(name, table.num_classes, context)
        with last_inputs(network) as seen:
            for _ in outputs(network, transform, table, context):
                pass
        return {"features": torch.cat(seen).numpy().astype(np.float16)}

    return context.checkpoints("features").arrays(name, key_of(name, table, context), compute)["features"]


def key_of(name: str, table: Table, context: Context) -> tuple:
    weights, size = context.settings.weights, context.settings.image_size
    seed = None if weights else seed_of(name, context)
    settings = {"name": name, "weights": weights, "size": size, "seed": seed, "classes": table.num_classes}
    return settings, table.inputs, stamps(table.inputs)


def stamps(paths: np.ndarray) -> np.ndarray:
    """Size and time of change (M, 2) of every image: the images themselves are some gigabytes, too many to hash."""
    found = np.empty((len(paths), 2), dtype=np.int64)
    for i, path in enumerate(paths):
        try:
            status = os.stat(path)
        except OSError as error:
            raise InputError(f"cannot read the image {path}: {error.strerror}") from None
        found[i] = status.st_size, status.st_mtime_ns
    return found


def seed_of(name: str, context: Context) -> int:
    """Networks without pretrained weights are drawn from it."""
    return context.integer_seed("network", stable_id(name))


def build(name: str, num_classes: int, context: Context) -> tuple[nn.Module, Transform]:
    """A network with the transform it was trained with; without weights a freshly drawn one, for tests."""
    if name not in models.list_models(module=models):
        raise InputError(f"torchvision has no classification network '{name}'")
    if context.settings.weights:
        weights = models.get_model_weights(name)[context.settings.weights]
        if len(weights.meta["categories"]) != num_classes:
            raise InputError(f"'{name}' knows {len(weights.meta['categories'])} classes, the images have {num_classes}")
        return models.get_model(name, weights=weights), weights.transforms()
    with seeded(seed_of(name, context)):
        network = models.get_model(name, weights=None, num_classes=num_classes)
    size = context.settings.image_size
    steps = [transforms.Resize((size, size)), transforms.ToImage(), transforms.ToDtype(torch.float32, scale=True)]
    return network, transforms.Compose(steps)


def outputs(network: nn.Module, transform: Transform, table: Table, context: Context) -> Iterator[torch.Tensor]:
    """The network's outputs batch by batch, on a GPU if there is one."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    workers = max(0, context.settings.workers)
    loader = DataLoader(ImageFiles(table.inputs, transform), context.settings.batch_size, num_workers=workers)
    network = network.eval().to(device)
    with torch.inference_mode():
        for batch in tqdm(loader, desc=f"{context.dataset} {type(network).__name__}", disable=None):
            yield network(batch.to(device)).cpu()


@contextmanager
def last_inputs(network: nn.Module) -> Iterator[list[torch.Tensor]]:
    """Collect what reaches the last linear layer while the network runs."""
    linear = [module for module in network.modules() if isinstance(module, nn.Linear)]
    if not linear:
        raise InputError(f"{type(network).__name__} has no linear layer to take features from")
    seen: list[torch.Tensor] = []
    hook = linear[-1].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].cpu()))
    try:
        yield seen
    finally:
        hook.remove()
