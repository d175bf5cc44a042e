"""Policies for tabular data: routers, scikit-learn regressors that predict which classifiers are right at x."""

import numpy as np

from cams.router import Router
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies, Split, Table
from data_prep.training.cross_fit import Lesson, Member, cross_fit
from data_prep.training.estimators import POLICIES, make_estimator

# A bundle keeps rewards and sharpens them when it is loaded, all alike: a router need not choose a sharpness.
UNSHARPENED = 1.0


def train_policies(table: Table, split: Split, classifiers: Classifiers, context: Context) -> Policies:
    return cross_fit(fit_predict, table, split, classifiers, context)


def fit_predict(member: Member, lesson: Lesson, features: np.ndarray, seed: int) -> np.ndarray:
    """Fit one router on at most `rows` rows, and return the rewards (M, k) it predicts."""
    chosen = np.random.default_rng(seed).permutation(len(lesson.features))[: member.get("rows")]
    lesson = lesson.rows(np.sort(chosen))
    estimator = make_estimator(POLICIES, member["family"], member.get("params", {}), seed)
    router = Router(estimator, name=member["name"], sharpness=UNSHARPENED)
    return router.fit_rewards(lesson.features, lesson.rewards).rewards(features)
