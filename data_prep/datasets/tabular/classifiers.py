"""Specialists for tabular data: each classifier sees its own skewed subsample of the classifier rows."""

import warnings
from typing import Any

import numpy as np
from omegaconf import OmegaConf
from sklearn.exceptions import ConvergenceWarning
from tqdm import tqdm

from cams.errors import InputError
from data_prep.pipeline.context import Context, stable_id
from data_prep.pipeline.dataset import Classifiers, Split, Table
from data_prep.pipeline.tasks import in_parallel
from data_prep.training.estimators import CLASSIFIERS, make_estimator, predict_in_chunks


def train_classifiers(table: Table, split: Split, context: Context) -> Classifiers:
    members: Any = OmegaConf.to_container(context.settings.classifiers.members)
    jobs = [(member, table, split, context) for member in members]
    finished = in_parallel(train_member, jobs, context.n_jobs)
    trained = list(tqdm(finished, total=len(members), desc=f"{context.dataset} classifiers", disable=None))
    return Classifiers(
        model_names=[member["name"] for member in members],
        policy_predictions=np.stack([predictions["policy"] for predictions in trained], axis=1),
        pool_predictions=np.stack([predictions["pool"] for predictions in trained], axis=1),
    )


def train_member(member: dict[str, Any], table: Table, split: Split, context: Context) -> dict[str, np.ndarray]:
    """Predictions of one specialist on policy rows and pool, from its checkpoint if it was trained before."""
    own_id = stable_id(member["name"])
    rows = subsample(member["subsample"], table, split.classifier_rows, context.rng("subsample", own_id))
    random_state = context.integer_seed("classifier", own_id)
    learned, policy, pool = (table.inputs[part] for part in (rows, split.policy_rows, split.pool_rows))
    key = (member, random_state, learned, table.labels[rows], policy, pool)

    def compute() -> dict[str, np.ndarray]:
        estimator = make_estimator(CLASSIFIERS, member["family"], member.get("params", {}), random_state)
        with warnings.catch_warnings():
            # A linear model stopped short of convergence is still a legitimate, weaker member of the zoo.
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimator.fit(learned, table.labels[rows])
        return {
            "policy": predict_in_chunks(estimator, policy).astype(np.int32),
            "pool": predict_in_chunks(estimator, pool).astype(np.int32),
        }

    return context.checkpoints("classifiers").arrays(member["name"], key, compute)


def subsample(spec: dict[str, Any], table: Table, candidates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows a specialist is trained on.

    spec: `groups` keeps only rows of these groups, `class_weights` (one number per class) makes some classes
    likelier than others, `rows` is the number drawn without replacement (all, if there are fewer).
    """
    weights = np.ones(len(candidates))
    if "groups" in spec:
        if table.groups is None:
            raise InputError("a subsample by groups was asked for, but the table has no groups")
        weights *= np.isin(table.groups[candidates], spec["groups"])
    if "class_weights" in spec:
        weights *= np.asarray(spec["class_weights"], dtype=float)[table.labels[candidates]]
    count = min(spec.get("rows", len(candidates)), np.count_nonzero(weights))
    if count == 0:
        raise InputError(f"the subsample {spec} matches no row")
    return np.sort(rng.choice(candidates, size=count, replace=False, p=weights / weights.sum()))
