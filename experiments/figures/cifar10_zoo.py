"""Contact sheet of CIFAR10: per class an easy, a middling and a hard image, with each classifier family's verdict.

python -m experiments.figures.cifar10_zoo      needs the raw images: python -m data_prep.fetch dataset=cifar10

results/figures/cifar10_zoo/cifar10_zoo.{png,pdf}   and .csv, the numbers behind it
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from omegaconf import DictConfig

import cams
from cams.files import write_text
from cams.plotting.appearance import GREEN, STYLE, VERMILION
from cams.plotting.draw import save
from data_prep.pipeline.shell import entry_point
from experiments.figures.compose import figure_stem

FAMILY_TITLES = {"vgg": "VGG", "resnet": "ResNet", "densenet": "DenseNet", "googlenet": "GoogLeNet"}


def families_of(model_names: list[str]) -> dict[str, np.ndarray]:
    """Columns of each family; a classifier is called `<family>_<run>_<snapshot>`."""
    prefixes = np.array([name.split("_")[0] for name in model_names])
    return {family: np.flatnonzero(prefixes == family) for family in dict.fromkeys(prefixes.tolist())}


def chosen_rows(predictions: np.ndarray, labels: np.ndarray, easier_than: list[float]) -> np.ndarray:
    """Pool rows (classes, columns): of each class the images at these ranks of the share of models that are right."""
    right = (predictions == labels[:, None]).mean(axis=1)
    rows = []
    for label in np.unique(labels):
        of_class = np.flatnonzero(labels == label)
        hardest_first = of_class[np.argsort(right[of_class], kind="stable")]
        rows.append([hardest_first[round(share * (len(of_class) - 1))] for share in easier_than])
    return np.array(rows)


def labels_of(bundle: cams.Bundle) -> np.ndarray:
    if bundle.labels is None:
        raise cams.InputError("the bundle has no labels, and a contact sheet says who is right")
    return bundle.labels


def verdicts(bundle: cams.Bundle, rows: np.ndarray, classes: list[str]) -> pd.DataFrame:
    """One line per image and family: share of its models that are right, and the label most of them give."""
    records: list[dict[str, Any]] = []
    for row in rows.ravel():
        truth = int(labels_of(bundle)[row])
        for family, columns in families_of(list(bundle.model_names)).items():
            votes = np.bincount(bundle.predictions[row, columns], minlength=bundle.num_classes)
            records.append(
                {
                    "row": int(row),
                    "class": classes[truth],
                    "family": family,
                    "share_right": votes[truth] / len(columns),
                    "majority": classes[int(votes.argmax())],
                }
            )
    return pd.DataFrame(records)


def draw(pixels: np.ndarray, rows: np.ndarray, said: pd.DataFrame, easier_than: list[float]) -> Figure:
    """pixels: (classes, columns, H, W, 3) of the chosen rows; bars are the shares of models that are right."""
    num_classes, columns = rows.shape
    titles = [f"easier than {share:.0%} of its class" for share in easier_than]
    with mpl.rc_context(fname=str(STYLE)):
        figure, axes = plt.subplots(
            num_classes, 2 * columns, figsize=(7.2, 0.78 * num_classes), width_ratios=[1, 1.9] * columns, squeeze=False
        )
        for i, j in np.ndindex(rows.shape):
            of_image = said[said["row"] == rows[i, j]]
            draw_photo(axes[i, 2 * j], pixels[i, j], of_image["class"].iloc[0] if j == 0 else "")
            draw_verdicts(axes[i, 2 * j + 1], of_image)
            axes[i, 2 * j + 1].tick_params(labelbottom=i == num_classes - 1)
        for j, title in enumerate(titles):
            axes[0, 2 * j + 1].set_title(title, loc="right")
            axes[-1, 2 * j + 1].set_xlabel("share of models right")
    return figure


def draw_photo(axes: Axes, pixels: np.ndarray, title: str) -> None:
    axes.imshow(pixels)
    axes.set_axis_off()
    axes.text(-0.12, 0.5, title, transform=axes.transAxes, rotation=90, ha="right", va="center")


def draw_verdicts(axes: Axes, of_image: pd.DataFrame) -> None:
    """A bar per family, green where most of its models give the right label."""
    colours = [GREEN if right else VERMILION for right in of_image["majority"] == of_image["class"]]
    axes.barh(range(len(of_image)), of_image["share_right"], color=colours, alpha=0.55, height=0.86)
    for y, (family, label) in enumerate(zip(of_image["family"], of_image["majority"], strict=True)):
        axes.text(0.02, y, f"{FAMILY_TITLES.get(family, family)}: {label}", va="center", fontsize=6)
    axes.set(xlim=(0, 1), ylim=(len(of_image) - 0.5, -0.5), xticks=[0, 0.5, 1], yticks=[])


def contact_sheet(cfg: DictConfig) -> list[Path]:
    """Write the numbers, then the figure."""
    for path in (cfg.bundle, cfg.images, cfg.split):
        if not Path(path).exists():
            raise cams.InputError(f"{path} is missing: python -m data_prep.all dataset=cifar10")
    bundle = cams.Bundle.load(cfg.bundle)
    rows = chosen_rows(bundle.predictions, labels_of(bundle), list(cfg.easier_than))
    said = verdicts(bundle, rows, list(cfg.classes))
    with np.load(cfg.split, allow_pickle=False) as split:
        pool_rows = split["pool_rows"]
    pixels = np.load(cfg.images, mmap_mode="r", allow_pickle=False)[pool_rows[rows.ravel()]]
    pixels = pixels.transpose(0, 2, 3, 1).reshape(*rows.shape, *pixels.shape[2:], 3)

    stem = figure_stem(Path(cfg.results), "cifar10_zoo", "cifar10_zoo")
    numbers = stem.with_suffix(".csv")
    write_text(numbers, said.to_csv(index=False))
    return [numbers, *save(draw(pixels, rows, said, list(cfg.easier_than)), stem)]


@entry_point("cifar10_zoo")
def main(cfg: DictConfig) -> None:
    for path in contact_sheet(cfg):
        print(path)


if __name__ == "__main__":
    main()
