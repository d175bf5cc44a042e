"""What storing rewards in few bits costs: CAMS's decisions on the pool with rewards as trained and as stored.

Both learners see the same stream and the same uniforms and follow their own history, so one early difference counts
in every later round it reaches. Policies come from their checkpoints (data sets whose policies `cross_fit` trains).

python -m data_prep.precision dataset=drift
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from cams import Bundle, InputError, make_learner, play
from cams.files import write_json
from cams.policies import opposite, sharpen
from cams.randomness import stream_order, uniforms
from data_prep.pipeline.artefacts import load_classifiers, load_policies, load_rows
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies, Split, Table, get_dataset
from data_prep.pipeline.stage import entry_point


def run(context: Context) -> Path:
    table, split = load_rows(context)
    classifiers = load_classifiers(table, split, context)
    bundle = bundle_made_from(classifiers, load_policies(split, classifiers, context), context)
    as_trained = bundle_with_advice(bundle, trained_rewards(table, split, classifiers, context), context)
    settings = context.precision_check
    horizon = min(settings.horizon, bundle.num_rows)
    outcomes = []
    for realization in range(settings.realizations):
        order = stream_order(context.seed, realization, bundle.num_rows, horizon)
        coins = uniforms(context.seed, realization, horizon)
        outcomes.append([decisions(each, order, coins) for each in (as_trained, bundle)])
    write_json(context.metrics_path("precision"), compare(np.array(outcomes)))
    return context.metrics_path("precision")


def bundle_made_from(classifiers: Classifiers, policies: Policies, context: Context) -> Bundle:
    """The stored bundle, if it holds these: rewards of others say nothing about precision."""
    with context.found(context.bundle_path, "bundle") as path:
        bundle = Bundle.load(path)
        trained = bundle.policy_names[: len(policies.names)]
        if trained != policies.names or not np.array_equal(bundle.predictions, classifiers.pool_predictions):
            raise InputError("it was made from other classifiers or policies than those that are there")
    return bundle


def trained_rewards(table: Table, split: Split, classifiers: Classifiers, context: Context) -> np.ndarray:
    """Rewards (N, s, k) on the pool before they were rounded for storage."""
    settings: Any = OmegaConf.merge(context.settings, {"policies": {"stored": "float32"}})
    policies = get_dataset(context.dataset).train_policies(
        table, split, classifiers, replace(context, settings=settings)
    )
    return policies.pool_rewards.rows(0, len(split.pool_rows))


def bundle_with_advice(bundle: Bundle, rewards: np.ndarray, context: Context) -> Bundle:
    """The same bundle, its trained and malicious advice made from these rewards in double precision."""
    rewards = rewards.astype(np.float64)
    trained, malicious = sharpen(rewards, context.sharpness), opposite(rewards, context.sharpness)
    advice = bundle.advice.astype(np.float64)
    names = bundle.policy_names
    for s in range(trained.shape[1]):
        advice[:, s] = trained[:, s]
        if (name := f"malicious_{names[s]}") in names:
            advice[:, names.index(name)] = malicious[:, s]
    return Bundle(predictions=bundle.predictions, labels=bundle.labels, advice=advice, num_classes=bundle.num_classes)


def decisions(bundle: Bundle, order: np.ndarray, coins: np.ndarray) -> np.ndarray:
    """(T, 4) of CAMS without a limit on labels: the model, its answer, whether a label was bought, whether it erred."""
    learner = make_learner(
        "cams",
        num_models=bundle.num_models,
        num_policies=bundle.num_policies,
        num_classes=bundle.num_classes,
        horizon=len(order),
        budget=len(order),
    )
    made = np.empty((len(order), 4), dtype=int)
    for t, (row, decided, _) in enumerate(play(learner, bundle, order, coins)):
        answer = decided.predictions[decided.model]
        made[t] = decided.model, answer, decided.query, answer != bundle.labels[row]  # type: ignore[index]  # made with labels
    return made


def compare(outcomes: np.ndarray) -> dict[str, Any]:
    """(R, 2, T, 4) decisions, as trained and as stored, to the shares of rounds on which they differ."""
    trained, stored = outcomes[:, 0], outcomes[:, 1]
    differ = (trained != stored).mean(axis=(0, 1))
    return {
        "rounds": int(trained.shape[0] * trained.shape[1]),
        "share_of_rounds_with_another_model": round(float(differ[0]), 6),
        "share_of_rounds_with_another_answer": round(float(differ[1]), 6),
        "share_of_rounds_with_another_query": round(float(differ[2]), 6),
        "mean_loss_as_trained": round(float(trained[..., 3].sum(axis=1).mean()), 2),
        "mean_loss_as_stored": round(float(stored[..., 3].sum(axis=1).mean()), 2),
    }


main = entry_point(run)

if __name__ == "__main__":
    main()
