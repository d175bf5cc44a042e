"""The picture of a replay: mistakes against labels bought."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from cams.files import atomic_path
from cams.outcome import BEST_MODEL, BEST_POLICY, Replay, confidence_band
from cams.plotting.appearance import BEST_CLASSIFIER_LOOK, BEST_REFERENCE, STYLE, look_of
from cams.plotting.draw import draw
from cams.plotting.panel import Panel, Reference, Series
from cams.plotting.picture import require_picture

REFERENCES = {
    BEST_MODEL: ("Best model in hindsight", BEST_CLASSIFIER_LOOK),
    BEST_POLICY: ("Best policy in hindsight", BEST_REFERENCE),
}


def plot_replay(result: Replay, path: Path | None = None) -> Figure:
    """Draw the panel of a replay, one line per learner over its budgets; write it if there is a path."""
    if path is not None:
        require_picture(path)
    figure = draw([[panel_of(result)]])
    if path is not None:
        # In memory first: where a disk is full, matplotlib has more to say than that.
        picture = BytesIO()
        with mpl.rc_context(fname=str(STYLE)), atomic_path(path) as temporary:
            figure.savefig(picture, format=path.suffix[1:])
            temporary.write_bytes(picture.getvalue())
    return figure


def panel_of(result: Replay) -> Panel:
    """Mean mistakes against mean labels with bands, and the best model and policy as levels."""
    order = np.argsort(result.budgets)
    lines = []
    for a, name in enumerate(result.learners):
        look = look_of(name, a)
        loss = result.loss[a, order]
        lines.append(
            Series(
                name,
                _as_written(look.title),
                look,
                result.queries[a, order].mean(axis=1),
                loss.mean(axis=1),
                *confidence_band(loss),
            )
        )
    levels = []
    for name, losses in result.references.items():
        title, look = REFERENCES[name]
        low, high = confidence_band(losses)
        levels.append(Reference(name, title, look, float(losses.mean()), float(low), float(high)))
    return Panel(
        "Labels bought",
        f"Mistakes in {result.horizon:,} rounds",
        tuple(lines),
        tuple(levels),
        scales=(_label_scale(result.queries[:, order].mean(axis=2)), "linear"),
    )


def _as_written(label: str) -> str:
    """Return a label that is drawn as it stands: what lies between dollars would be read as mathematics."""
    return label.replace("$", r"\$")


def _label_scale(labels: npt.NDArray[np.float64]) -> str:
    """Logarithmic where labels (A, B) lie more than tenfold apart, those that bought none aside; both show 0."""
    some = labels[labels >= 1]
    return "from_zero" if some.size and some.max() > 10 * some.min() else "linear"
