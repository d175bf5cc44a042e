"""Training policies on the policy rows twice over: on all of them for the pool, fold by fold for an honest check."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from omegaconf import OmegaConf
from tqdm import tqdm

from cams.compact import DenseRewards
from cams.errors import InputError
from data_prep.pipeline.context import Context, stable_id
from data_prep.pipeline.dataset import Classifiers, Policies, Split, Table
from data_prep.pipeline.tasks import in_parallel

Member = dict[str, Any]
POOL = -1


@dataclass(frozen=True)
class Lesson:
    """What a policy learns from: features (P, d), labels (P,), rewards (P, k), 1 where a classifier was right."""

    features: np.ndarray
    labels: np.ndarray
    rewards: np.ndarray

    def rows(self, chosen: np.ndarray) -> "Lesson":
        return Lesson(self.features[chosen], self.labels[chosen], self.rewards[chosen])


# fit_predict(member, lesson, features (M, d), seed): train one policy, return the rewards (M, k) in 0..1 it predicts.
FitPredict = Callable[[Member, Lesson, np.ndarray, int], np.ndarray]


def cross_fit(
    fit_predict: FitPredict, table: Table, split: Split, classifiers: Classifiers, context: Context
) -> Policies:
    """Rewards on the pool by policies trained on all P policy rows; rewards on each fold of the policy rows by
    policies trained on the other folds, so that the held-out rewards cover every policy row."""
    settings = context.settings.policies
    defaults: Any = OmegaConf.to_container(settings.get("defaults", OmegaConf.create()))
    listed: Any = OmegaConf.to_container(settings.members)
    members = [{**defaults, **member} for member in listed]
    labels = table.labels[split.policy_rows]
    rewards = (classifiers.policy_predictions == labels[:, None]).astype(np.float32)
    lesson = Lesson(table.inputs[split.policy_rows], labels, rewards)
    fold_of = context.rng("policy_folds").permutation(len(labels)) % settings.folds
    parts = {POOL: (lesson, table.inputs[split.pool_rows])}
    for fold in range(settings.folds):
        parts[fold] = (lesson.rows(fold_of != fold), lesson.features[fold_of == fold])
    rated = predict_all(fit_predict, members, parts, context)
    held_out = np.empty((len(labels), len(members), rewards.shape[1]), dtype=np.float32)
    for fold in range(settings.folds):
        held_out[fold_of == fold] = rated[fold]
    return Policies(
        names=[member["name"] for member in members],
        kinds=[member["kind"] for member in members],
        pool_rewards=DenseRewards(stored_form(rated[POOL], settings.stored)),
        held_out=np.arange(len(labels)),
        held_out_rewards=held_out,
    )


def predict_all(
    fit_predict: FitPredict, members: list[Member], parts: dict[int, tuple[Lesson, np.ndarray]], context: Context
) -> dict[int, np.ndarray]:
    """The rewards (M, s, k) of every part by all members, trained side by side."""
    tasks = [(part, member) for part in parts for member in members]
    jobs = [(fit_predict, member, part, *parts[part], context) for part, member in tasks]
    finished = in_parallel(predict_once, jobs, context.n_jobs)
    results = list(tqdm(finished, total=len(tasks), desc=f"{context.dataset} policies", disable=None))
    count = len(members)
    return {part: np.stack(results[i * count : (i + 1) * count], axis=1) for i, part in enumerate(parts)}


def predict_once(
    fit_predict: FitPredict, member: Member, part: int, lesson: Lesson, rated: np.ndarray, context: Context
) -> np.ndarray:
    """One policy's rewards for one part, from its checkpoint if it was trained before."""
    seed = context.integer_seed("policy", stable_id(f"{member['name']}/{part}"))
    key = (member, seed, lesson.features, lesson.labels, lesson.rewards, rated)

    def compute() -> dict[str, np.ndarray]:
        return {"rewards": fit_predict(member, lesson, rated, seed).astype(np.float32)}

    return context.checkpoints("policies").arrays(f"{member['name']}-{part}", key, compute)["rewards"]


def stored_form(rewards: np.ndarray, precision: str) -> np.ndarray:
    """Rewards in [0, 1] as the bundle keeps them: a float of that size, or 256 levels in one byte."""
    if precision in ("float32", "float16"):
        return rewards.astype(precision)
    if precision == "uint8":
        return np.rint(rewards * 255).astype(np.uint8)
    raise InputError(f"policies.stored is '{precision}', expected float32, float16 or uint8")
