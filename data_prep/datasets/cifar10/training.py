"""One training run of one network: seeded, one schedule, snapshots at the epochs that are asked for.

The same loop trains classifiers (image to class) and policies (image to one reward per classifier); they differ in
their `Objective`. Nothing here knows about splits, files or the number of runs.
"""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from data_prep.training.torchvision_shim import transforms

StateDict = dict[str, Tensor]

INFERENCE_BATCH = 250


@dataclass(frozen=True)
class Schedule:
    """How one run is trained; every field is a value of conf/dataset/cifar10.yaml."""

    epochs: int
    learning_rate: float  # at its peak
    batch_size: int
    momentum: float
    weight_decay: float
    snapshots: tuple[float, ...]  # when the weights are kept, in epochs, the fraction of one included
    max_steps: int | None = None  # stop early, for a trial of an expensive network

    def __post_init__(self) -> None:
        if not self.snapshots or min(self.snapshots) <= 0 or self.snapshots[-1] != self.epochs:
            raise ValueError(f"snapshots {list(self.snapshots)} must be positive and end with {self.epochs} epochs")

    def snapshot_numbers(self, steps_per_epoch: int) -> dict[int, int]:
        """After how many steps each snapshot is due: {steps: 1, steps: 2, ...}."""
        return {round(epoch * steps_per_epoch): number for number, epoch in enumerate(self.snapshots, start=1)}

    def snapshot_names(self, run: str) -> list[str]:
        """`run_s1`, `run_s2`, ...: numbered, so that names do not change with the number of epochs."""
        return [f"{run}_s{number}" for number in range(1, len(self.snapshots) + 1)]


@dataclass(frozen=True)
class Images:
    """How uint8 images become network inputs."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    size: int
    pad: int
    augment_group: int  # this many images of a batch share one random crop and flip: drawing them is slow

    def augmented(self, batch: Tensor) -> Tensor:
        """Randomly cropped and flipped (B, 3, H, W) uint8, drawn from torch's global generator."""
        crop = transforms.RandomCrop(batch.shape[-1], padding=self.pad)
        augment = transforms.Compose([crop, transforms.RandomHorizontalFlip()])
        return torch.cat([augment(group) for group in batch.split(self.augment_group)])

    def normalized(self, batch: Tensor) -> Tensor:
        """Float inputs of the network's size, (B, 3, size, size)."""
        steps = [transforms.ToDtype(torch.float32, scale=True), transforms.Normalize(self.mean, self.std)]
        if batch.shape[-1] != self.size:
            steps.insert(0, transforms.Resize(self.size, antialias=True))
        return transforms.Compose(steps)(batch).contiguous(memory_format=torch.channels_last)


@dataclass(frozen=True)
class Setup:
    """All that determines a run besides the network, the data and the seed."""

    schedule: Schedule
    images: Images
    device: str  # auto takes a GPU where there is one
    threads: int  # summation order, and so the last digits, depend on it

    def torch_device(self) -> torch.device:
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)


@dataclass(frozen=True)
class Objective:
    """loss: (outputs, targets) to a scalar. score: (outputs, targets) to the share of rows that came out right."""

    loss: Callable[[Tensor, Tensor], Tensor]
    score: Callable[[Tensor, Tensor], Tensor]


def _class_hits(logits: Tensor, labels: Tensor) -> Tensor:
    return (logits.argmax(1) == labels).float().mean()


CLASSES = Objective(loss=functional.cross_entropy, score=_class_hits)


@dataclass(frozen=True)
class RewardObjective:
    """As Objective, for outputs and targets whose first `num_models` columns are rewards and the others the class."""

    num_models: int
    reward_weight: float

    def loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        k = self.num_models
        rewards = functional.binary_cross_entropy_with_logits(logits[:, :k], targets[:, :k])
        return self.reward_weight * rewards + functional.cross_entropy(logits[:, k:], targets[:, k:])

    def score(self, logits: Tensor, targets: Tensor) -> Tensor:
        favourite = logits[:, : self.num_models].argmax(1, keepdim=True)
        return targets.gather(1, favourite).mean()


def train(
    network: nn.Module,
    pixels: np.ndarray,
    targets: np.ndarray,
    objective: Objective | RewardObjective,
    setup: Setup,
    name: str,
) -> dict[int, StateDict]:
    """Train on pixels (n, 3, H, W) uint8 and return the weights at each of schedule.snapshots, numbered from 1.

    Batches and augmentation are drawn from torch's global generator: see `seeded`.
    """
    schedule, device = setup.schedule, setup.torch_device()
    network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch documents it
    num_steps = _num_steps(len(pixels), schedule)
    optimizer, rates = _optimizer(network, schedule, num_steps)
    report = EpochReport(name, schedule.epochs)
    snapshots: dict[int, StateDict] = {}
    due, steps = schedule.snapshot_numbers(num_steps), 0
    for epoch in range(1, schedule.epochs + 1):
        network.train()
        for rows in _batches(len(pixels), schedule, num_steps):
            augmented = setup.images.augmented(torch.from_numpy(pixels[rows]))
            outputs = network(setup.images.normalized(augmented.to(device)))
            wanted = torch.from_numpy(targets[rows]).to(device)
            optimizer.zero_grad(set_to_none=True)
            objective.loss(outputs, wanted).backward()
            optimizer.step()
            rates.step()
            report.add(len(rows), objective.score(outputs.detach(), wanted).item())
            steps += 1
            if steps in due:
                snapshots[due[steps]] = {key: value.cpu().clone() for key, value in network.state_dict().items()}
        report.finish(epoch)
    return snapshots


@torch.inference_mode()
def outputs_of(network: nn.Module, pixels: np.ndarray, setup: Setup) -> np.ndarray:
    """The network's outputs for every image, in order, (n, outputs)."""
    device = setup.torch_device()
    network = network.to(device, memory_format=torch.channels_last).eval()  # type: ignore[call-overload]
    parts = []
    for start in range(0, len(pixels), INFERENCE_BATCH):
        batch = torch.from_numpy(np.array(pixels[start : start + INFERENCE_BATCH]))
        parts.append(network(setup.images.normalized(batch.to(device))).cpu().numpy())
    return np.concatenate(parts)


class EpochReport:
    """One line per epoch on standard error: run, epoch, accuracy, images per second, time left in this run."""

    def __init__(self, name: str, epochs: int) -> None:
        self.name, self.epochs = name, epochs
        self.started = self.epoch_started = time.perf_counter()
        self.images, self.right = 0, 0.0

    def add(self, images: int, score: float) -> None:
        self.images += images
        self.right += images * score

    def finish(self, epoch: int) -> None:
        now = time.perf_counter()
        left = (now - self.started) / epoch * (self.epochs - epoch)
        print(
            f"{self.name}: epoch {epoch}/{self.epochs}, accuracy {self.right / self.images:.3f}, "
            f"{self.images / (now - self.epoch_started):.0f} images/s, {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )
        self.epoch_started, self.images, self.right = now, 0, 0.0


def _num_steps(num_images: int, schedule: Schedule) -> int:
    # A last batch of one image would break batch normalisation, and a small one its statistics: it is left out.
    full = max(1, num_images // schedule.batch_size)
    return full if schedule.max_steps is None else min(full, schedule.max_steps)


def _batches(num_images: int, schedule: Schedule, num_steps: int) -> Iterator[np.ndarray]:
    order = torch.randperm(num_images).numpy()
    for step in range(num_steps):
        # Sorted rows read faster from a memory map, and the order within a batch changes nothing.
        yield np.sort(order[step * schedule.batch_size : (step + 1) * schedule.batch_size])


def _optimizer(network: nn.Module, schedule: Schedule, steps_per_epoch: int) -> tuple[Any, Any]:
    optimizer = torch.optim.SGD(
        network.parameters(),
        lr=schedule.learning_rate,
        momentum=schedule.momentum,
        nesterov=True,
        weight_decay=schedule.weight_decay,
    )
    rates = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=schedule.learning_rate, total_steps=schedule.epochs * steps_per_epoch, cycle_momentum=False
    )
    return optimizer, rates
