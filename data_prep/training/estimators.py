"""The scikit-learn families that conf/dataset/*.yaml may name, for classifiers and for policies."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import ensemble, gaussian_process, naive_bayes, neighbors, svm, tree
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cams.errors import InputError, nearest
from cams.tables import row_chunks

Families = dict[str, Callable[[], BaseEstimator]]

CLASSIFIERS: Families = {
    "random_forest": ensemble.RandomForestClassifier,
    # The kernel is spelt out so that conf can set kernel__k2__length_scale; its search is off unless conf turns it on.
    "gaussian_process": partial(gaussian_process.GaussianProcessClassifier, kernel=1.0 * RBF(), optimizer=None),
    "lda": LinearDiscriminantAnalysis,
    "naive_bayes": naive_bayes.GaussianNB,
    "decision_tree": tree.DecisionTreeClassifier,
    "svm": svm.SVC,
    "adaboost": ensemble.AdaBoostClassifier,
    "logistic_regression": LogisticRegression,
    "knn": neighbors.KNeighborsClassifier,
}
# Regressors with k outputs: they predict the reward (right or not) of every classifier at once.
POLICIES: Families = {
    "random_forest": ensemble.RandomForestRegressor,
    "extra_trees": ensemble.ExtraTreesRegressor,
    "decision_tree": tree.DecisionTreeRegressor,
    "radius_neighbours": neighbors.RadiusNeighborsRegressor,
    "ridge": Ridge,
    "knn": neighbors.KNeighborsRegressor,
}


def make_estimator(families: Families, family: str, params: dict[str, Any], random_state: int) -> BaseEstimator:
    """A standardising pipeline that ends in the named family; trees do not mind, distances need it."""
    if family not in families:
        raise InputError(f"unknown family '{family}'{nearest(family, families)}; known: {', '.join(families)}")
    estimator = families[family]()
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=random_state)
    try:
        estimator.set_params(**params)
    except ValueError as error:
        raise InputError(f"family '{family}': {error}") from None
    return make_pipeline(StandardScaler(), estimator)


def predict_in_chunks(estimator: BaseEstimator, features: np.ndarray) -> np.ndarray:
    """Predict a block of rows at a time, as routers do: a Gaussian process on 100000 rows at once would hold a kernel
    matrix of several gigabytes."""
    return np.concatenate([estimator.predict(rows) for rows in row_chunks(features)])
