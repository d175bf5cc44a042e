"""Policies without training: advice from how sure the models themselves are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.checks import as_array, number
from cams.errors import InputError, in_one_line
from cams.naming import text_of
from cams.policies import SHARPEST, sharpen
from cams.tables import require_one_order

Array = npt.NDArray[Any]

# How sharply a model's own confidence is read; nobody trained it, so there are no rows to choose this on.
CONFIDENCE_SHARPNESS = 20.0
ROUNDING = 1e-6


class Confidence:
    """A policy made of what the models themselves report, without any training; used like a fitted router.

        models     trained models with `predict_proba`, by name, in the order of the bundle
        sharpness  advice = softmax(sharpness * confidence)

    It is as good as the confidences are honest.
    """

    kind = "normal"

    def __init__(
        self, models: Mapping[str, Any], *, name: str = "confidence", sharpness: float = CONFIDENCE_SHARPNESS
    ) -> None:
        if not isinstance(models, Mapping):
            raise InputError(f"models is a {type(models).__name__}, expected a mapping from names to models")
        self.models, self.name = dict(models), name
        self.sharpness = number("sharpness", sharpness, 0, SHARPEST)

    def check_models(self, names: Sequence[str]) -> None:
        """Refuse to advise on other models than its own, and on models that do not say how sure they are."""
        known, asked = [text_of(name) for name in self.models], [text_of(name) for name in names]
        if known != asked:
            raise InputError(f"policy '{self.name}' knows the models {', '.join(known)}, not {', '.join(asked)}")
        for name, model in self.models.items():
            if not hasattr(model, "predict_proba"):
                raise InputError(f"policy '{self.name}': model '{name}' has no predict_proba to say how sure it is")

    def advise(self, X: Any) -> Array:
        """Return advice (N, k) from the models' class probabilities at X."""
        self.check_models(list(self.models))
        probabilities = {}
        for name, model in self.models.items():
            try:
                probabilities[name] = model.predict_proba(X)
            except Exception as error:  # as of `predict`: every library has its own
                said = in_one_line(error)
                raise InputError(f"policy '{self.name}': model '{name}' cannot predict these rows: {said}") from error
        return confidence_advice(probabilities, self.sharpness)


def confidence_advice(probabilities: Any, sharpness: float = CONFIDENCE_SHARPNESS) -> Array:
    """Return advice (N, k) from how sure the models themselves are, without any training.

    probabilities: what each of the k models' `predict_proba` returned, k arrays (N, c) in a list or by name, or
    confidences, k arrays (N,) by name or one array or table (N, k); the models may know different numbers of classes.
    Advice is softmax(sharpness * confidence). Models that are sure and wrong mislead it; CAMS then buys labels and
    learns to ignore it.
    """
    by_name = isinstance(probabilities, Mapping)
    given = probabilities.values() if by_name else probabilities
    if hasattr(probabilities, "columns"):  # a table's own order is that of its columns
        given = np.asarray(probabilities)
    sharpness = number("sharpness", sharpness, 0, SHARPEST)
    if by_name or isinstance(probabilities, list | tuple):
        require_one_order(probabilities=probabilities if by_name else dict(enumerate(probabilities)))
    try:
        parts = [as_array("probabilities", part).astype(np.float64) for part in given]
    except InputError:
        raise
    except (TypeError, ValueError):
        parts = []
    empty = any(part.ndim == 2 and part.shape[1] == 0 for part in parts)
    if not parts or len({part.ndim for part in parts}) > 1 or parts[0].ndim not in (1, 2) or empty:
        raise InputError("probabilities is neither k arrays (N, c) nor one array (N, k)")
    lengths = [len(part) for part in parts]
    if len(set(lengths)) > 1:
        raise InputError(
            f"probabilities has parts of {min(lengths)} and of {max(lengths)} rows, expected as many in each"
        )
    surest = [part.max(axis=1) for part in parts] if parts[0].ndim == 2 else parts
    confidence = np.stack(surest, axis=1 if by_name or parts[0].ndim == 2 else 0)
    # Negated, so that NaN fails; sums of rounded numbers may be a little above 1.
    if not ((confidence >= 0) & (confidence <= 1 + ROUNDING)).all():
        raise InputError("probabilities has values outside 0..1")
    return sharpen(np.minimum(confidence, 1), sharpness)
