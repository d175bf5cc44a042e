"""Policies from your own data: a router learns which models are right at x, and advises accordingly.

    router = cams.Router(RandomForestRegressor(), name="forest")   # any scikit-learn estimator with k outputs
    router.fit(X, predictions, y)                                  # rows that the models were not trained on
    advice = router.advise(X_new)                                  # (N, k), rows are distributions over the models

Needs scikit-learn (`pip install 'cams[routing]'`), which is imported on use.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams.checks import as_array, is_listed, number, whole_number
from cams.classes import abstentions, answers_of, as_column, check_speech, learn_classes, named_classes, named_columns
from cams.errors import InputError, in_one_line, nearest
from cams.naming import words
from cams.policies import SHARPEST, sharpen
from cams.tables import num_rows, require_one_order, row_chunks, take

Array = npt.NDArray[Any]

SHARPNESS_GRID = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)


class Router:
    """A policy trained to predict which models are right.

        estimator     a scikit-learn regressor with k outputs, or a classifier that predicts k outputs with
                      probabilities; one with a single output goes into scikit-learn's MultiOutputRegressor
        name, kind    as the policy is called in a bundle
        sharpness     advice = softmax(sharpness * predicted reward); None chooses it by cross-validation
        folds         parts of that cross-validation, on the rows of `fit`
        random_state  seed of the division into folds

    After `fit`: `estimator_`, `sharpness_`, `model_names_` and `sharpness_losses_` (the out-of-fold expected loss at
    each sharpness of the grid, where it was chosen). Follows scikit-learn's conventions, so `sklearn.base.clone` works.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        name: str = "router",
        kind: str = "normal",
        sharpness: float | None = None,
        folds: int = 5,
        random_state: int = 0,
    ) -> None:
        self.estimator, self.name, self.kind = estimator, name, kind
        self.sharpness, self.folds, self.random_state = sharpness, folds, random_state

    def fit(self, X: Any, predictions: Any, y: Any) -> Self:
        """Learn from rows X, the models' predictions (N, k) there, and the true labels (N,).

        `predictions` may be a DataFrame or a mapping whose columns are the models' names. A model without an answer
        (None, NaN) counts as wrong.
        """
        require_one_order(X=X, predictions=predictions, y=y)
        names, answers = named_columns(predictions)
        labels = answers_of("y", as_column(y))
        if labels.shape != answers.shape[:1] or answers.size == 0:
            raise InputError(f"{self._called} got predictions of shape {answers.shape} and y of shape {labels.shape}")
        missing = np.asarray(pd.isna(labels))
        if missing.any():
            raise InputError(f"{self._called}: y[{int(missing.argmax())}] is missing, expected a class")
        return self.fit_rewards(X, _who_is_right(answers, labels, names).astype(np.float64), names)

    def fit_rewards(self, X: Any, rewards: Array, model_names: Sequence[str] | None = None) -> Self:
        """Learn from rewards (N, k) directly: 1 where a model was right, or anything in [0, 1].

        The columns of a DataFrame are the models' names, where none are given.
        """
        require_one_order(X=X, rewards=rewards)
        if model_names is None and isinstance(rewards, pd.DataFrame) and not isinstance(rewards.columns, pd.RangeIndex):
            model_names = list(rewards.columns)
        rewards = self._checked_rewards(X, rewards)
        names = self._checked_names(model_names, rewards.shape[1])
        losses = self._losses_by_sharpness(X, rewards) if self.sharpness is None else None
        sharpness = number("sharpness", self.sharpness, 0, SHARPEST) if losses is None else _gentlest(losses)
        estimator = self._fitted(X, rewards)
        # All at once: a fit that fails leaves the router as it was.
        self.estimator_, self.sharpness_, self.mean_rewards_ = estimator, sharpness, rewards.mean(axis=0)
        self.model_names_, self._knows_names = names, model_names is not None
        if losses is not None:
            self.sharpness_losses_ = {s: float(loss.mean()) for s, loss in losses.items()}
        return self

    def _checked_names(self, names: Sequence[str] | None, count: int) -> list[str]:
        if names is None:
            return [f"model_{j}" for j in range(count)]
        if isinstance(names, str) or not is_listed(names):
            raise InputError(f"{self._called} got model_names {names!r}, expected a list of names")
        listed = list(names)
        if len(listed) != count:
            raise InputError(f"{self._called} got {len(listed)} names of {count} models")
        return words(f"{self._called}: model_names", listed)

    def _checked_rewards(self, X: Any, rewards: Array) -> Array:
        rewards = as_array("rewards", rewards)
        if rewards.dtype.kind not in "fiub" and rewards.ndim:
            raise InputError(f"{self._called} got rewards of type {rewards.dtype}, expected real numbers")
        if rewards.ndim != 2 or 0 in rewards.shape:
            raise InputError(f"{self._called} got rewards of shape {rewards.shape}, expected rows and models")
        if num_rows(X) != len(rewards):
            raise InputError(
                f"{self._called} got {num_rows(X)} rows X for {len(rewards)} rows of what models did there"
            )
        # Negated, so that NaN fails.
        if not ((rewards >= 0) & (rewards <= 1)).all():
            raise InputError(f"{self._called} got rewards outside 0..1")
        return rewards

    def rewards(self, X: Any) -> Array:
        """Return the predicted chance (N, k) of each model to be right."""
        self._require_fitted()
        return self._predict(self.estimator_, X, self.mean_rewards_)

    def advise(self, X: Any) -> Array:
        """Return advice (N, k): softmax(sharpness * predicted reward)."""
        return sharpen(self.rewards(X), self.sharpness_)

    def _fitted(self, X: Any, rewards: Array) -> Any:
        with self._needing_sklearn():
            from sklearn.base import clone

        with self._refusing("be fitted"):
            # One model is one output, which most estimators want without its own axis.
            fitted = clone(self.estimator)
            fitted.fit(X, rewards[:, 0] if rewards.shape[1] == 1 else rewards)
        return fitted

    def _predict(self, estimator: Any, X: Any, mean_rewards: Array) -> Array:
        if num_rows(X) == 0:
            raise InputError(f"{self._called} was asked about no rows")
        with self._refusing("predict"), warnings.catch_warnings():
            # Of rows without neighbours scikit-learn warns that they get NaN; here they do not.
            warnings.filterwarnings("ignore", "One or more samples have no neighbors")
            parts = [_outputs(estimator, chunk, len(mean_rewards)) for chunk in row_chunks(X)]
            rewards = np.concatenate(parts).reshape(num_rows(X), -1)
        if rewards.shape[1] != len(mean_rewards):
            expected = f"one for each of {len(mean_rewards)} models"
            raise InputError(f"{self._called}: its estimator has {rewards.shape[1]} outputs, expected {expected}")
        # A neighbour search that finds nobody knows nothing of a row but the mean reward.
        known = np.where(np.isnan(rewards), mean_rewards, rewards)
        clipped: Array = np.clip(known, 0.0, 1.0)
        return clipped

    @property
    def _called(self) -> str:
        return f"router '{self.name}'"

    @contextmanager
    def _needing_sklearn(self) -> Iterator[None]:
        try:
            yield
        except ImportError:
            raise InputError(f"{self._called} needs scikit-learn: pip install 'cams[routing]'") from None

    @contextmanager
    def _refusing(self, what: str) -> Iterator[None]:
        """Say in one sentence what the estimator says in many."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:  # an estimator is anybody's code
            raise InputError(
                f"{self._called}: {type(self.estimator).__name__} cannot {what}: {in_one_line(error)}"
            ) from error

    def _losses_by_sharpness(self, X: Any, rewards: Array) -> dict[float, Array]:
        """Return the expected loss (N,) of out-of-fold advice at each sharpness of the grid."""
        with self._needing_sklearn():
            from sklearn.model_selection import KFold

        folds = min(whole_number("folds", self.folds, 2), len(rewards))
        if folds < 2:
            raise InputError(f"{self._called}: one row is too few to choose a sharpness on, give sharpness=")
        seed = whole_number("random_state", self.random_state, 0, 2**32 - 1)
        held_out = np.empty(rewards.shape)
        for train, test in KFold(folds, shuffle=True, random_state=seed).split(rewards):
            fitted = self._fitted(take(X, train), rewards[train])
            held_out[test] = self._predict(fitted, take(X, test), rewards.mean(axis=0))
        return {s: (sharpen(held_out, s) * (1 - rewards)).sum(axis=1) for s in SHARPNESS_GRID}

    def check_models(self, names: Sequence[str]) -> None:
        """Refuse to advise on other models than those it was fitted on."""
        self._require_fitted()
        if len(names) != len(self.model_names_):
            raise InputError(f"{self._called} was fitted on {len(self.model_names_)} models, not on {len(names)}")
        if self._knows_names and list(names) != self.model_names_:
            fitted, given = ", ".join(self.model_names_), ", ".join(map(str, names))
            raise InputError(f"{self._called} was fitted on the models {fitted}, not on {given}")

    def _require_fitted(self) -> None:
        if not hasattr(self, "estimator_"):
            with self._needing_sklearn():
                from sklearn.exceptions import NotFittedError

            # What scikit-learn's own functions catch, and what ours raise.
            class NotFitted(InputError, NotFittedError):  # type: ignore[misc]  # scikit-learn has no types
                pass

            raise NotFitted(f"{self._called} is not fitted yet: call fit(X, predictions, y) first")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments, and with `deep` those of the estimator as `estimator__<name>`."""
        params = {name: getattr(self, name) for name in ("estimator", *_OPTIONS)}
        if deep and hasattr(self.estimator, "get_params"):
            params |= {f"estimator__{name}": value for name, value in self.estimator.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        for name, value in params.items():
            own, _, inner = name.partition("__")
            if own not in ("estimator", *_OPTIONS):
                raise InputError(f"a router has no parameter '{name}'{nearest(name, ('estimator', *_OPTIONS))}")
            if inner:
                with self._refusing("be set"):
                    self.estimator.set_params(**{inner: value})
            else:
                setattr(self, own, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Let scikit-learn's own functions, such as `check_is_fitted`, look at a router."""
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def __repr__(self) -> str:
        return f"Router({self.estimator!r}, name={self.name!r})"


_OPTIONS = ("name", "kind", "sharpness", "folds", "random_state")


def _gentlest(losses: dict[float, Array]) -> float:
    """Return the smallest sharpness whose expected loss is within one standard error of the best.

    Sharper advice than that gains nothing measurable and leaves CAMS less to correct.
    """
    best = min(losses.values(), key=np.mean)
    bar = best.mean() + best.std() / np.sqrt(len(best))
    return min(s for s, loss in losses.items() if loss.mean() <= bar)


def _who_is_right(answers: Array, labels: Array, names: Sequence[str] | None) -> npt.NDArray[np.bool_]:
    """Say of each model at each row (N, k) whether its answer is the label (N,); one without an answer is wrong."""
    if answers.dtype.kind in "iuf" and labels.dtype.kind in "iuf":
        right: npt.NDArray[np.bool_] = answers == labels[:, None]
        return right
    silent = abstentions(answers)
    # Words are never equal to numbers: without this every model would be wrong, and nobody told.
    check_speech(answers, silent, labels, names)
    classes = named_classes(answers[~silent], labels, None) or learn_classes(answers, labels)
    right = classes.numbers(answers, "predictions") == classes.numbers(labels, "y")[:, None]
    return right & ~silent


def _outputs(estimator: Any, X: Any, count: int) -> Array:
    """Return an estimator's k outputs: a classifier's probabilities of 1, anything else's predictions."""
    if not hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict(X), dtype=np.float64)
    probabilities = estimator.predict_proba(X)
    listed = isinstance(probabilities, list)
    # Neural networks, chains and one-versus-rest say of k outputs only the chances of 1, in one array (N, k).
    if not listed and count > 1:
        return np.asarray(probabilities, dtype=np.float64)
    per_model, classes = (probabilities, estimator.classes_) if listed else ([probabilities], [estimator.classes_])
    # A model that was always right, or never, leaves a single class.
    columns = [
        part[:, list(known).index(1)] if 1 in list(known) else np.zeros(len(part))
        for part, known in zip(per_model, classes, strict=True)
    ]
    return np.stack(columns, axis=1)
