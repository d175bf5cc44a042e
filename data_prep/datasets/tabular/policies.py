"""Policies for tabular data: scikit-learn regressors that predict which classifiers are right at x."""

import warnings

import numpy as np

from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies, Split, Table
from data_prep.training.cross_fit import Lesson, Member, cross_fit
from data_prep.training.estimators import POLICIES, make_estimator, predict_in_chunks


def train_policies(table: Table, split: Split, classifiers: Classifiers, context: Context) -> Policies:
    return cross_fit(fit_predict, table, split, classifiers, context)


def fit_predict(member: Member, lesson: Lesson, features: np.ndarray, seed: int) -> np.ndarray:
    """Fit one regressor with k outputs, on at most `rows` rows, and predict the rewards (M, k)."""
    chosen = np.random.default_rng(seed).permutation(len(lesson.features))[: member.get("rows")]
    lesson = lesson.rows(np.sort(chosen))
    estimator = make_estimator(POLICIES, member["family"], member.get("params", {}), seed)
    estimator.fit(lesson.features, lesson.rewards)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "One or more samples have no neighbors")
        rewards = predict_in_chunks(estimator, features)
    # Without neighbours inside the radius nothing is known of a row but the classifiers' mean reward.
    return np.where(np.isnan(rewards), lesson.rewards.mean(axis=0), rewards)
