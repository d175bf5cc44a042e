"""Stage 5: predictions, rewards and recipes of derived policies, to `<results>/bundles/<dataset>.npz`.

python -m data_prep.bundle dataset=drift scale=laptop seed=0
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from cams.bundle import Bundle
from cams.compact import DenseRewards, Recipe, save_compact
from cams.errors import InputError
from cams.files import write_json
from data_prep.pipeline.artefacts import load_classifiers, load_policies, load_rows
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies
from data_prep.pipeline.metrics import model_accuracies, policy_accuracies
from data_prep.pipeline.stage import entry_point


def run(context: Context) -> Path:
    table, split = load_rows(context)
    classifiers = load_classifiers(table, split, context)
    policies = load_policies(split, classifiers, context)
    save_compact(
        context.bundle_path,
        predictions=classifiers.pool_predictions,
        labels=table.labels[split.pool_rows],
        rewards=policies.pool_rewards,
        sharpness=context.sharpness,
        policies=recipes(policies, context),
        num_classes=table.num_classes,
        model_names=classifiers.model_names,
        groups=None if table.groups is None else table.groups[split.pool_rows],
    )
    margin = context.settings.policies.margin
    check = context_pays(classifiers, policies, table.labels[split.policy_rows], margin)
    if not check["met"]:
        print(f"{context.dataset}: context hardly pays on held-out rows: {check}", file=sys.stderr)
    write_json(
        context.metrics_path("bundle"),
        {
            "rows": len(split.pool_rows),
            "classifiers": len(classifiers.model_names),
            "policies": len(recipes(policies, context)),
            "megabytes": round(context.bundle_path.stat().st_size / 1e6, 3),
            "held_out_check": check,
        },
    )
    return context.bundle_path


def recipes(policies: Policies, context: Context) -> list[Recipe]:
    """Trained policies as stored, then the opposite of those under `malicious`, then random ones."""
    settings = context.settings.policies
    listed = [
        Recipe(name, kind, f"stored:{i}")
        for i, (name, kind) in enumerate(zip(policies.names, policies.kinds, strict=True))
    ]
    for name in settings.malicious:
        if name not in policies.names:
            raise InputError(f"malicious policy '{name}' is not among the trained ones: {policies.names}")
        listed.append(Recipe(f"malicious_{name}", "malicious", f"opposite:{policies.names.index(name)}"))
    for i in range(settings.random):
        listed.append(Recipe(f"random_{i}", "random", f"random:{context.integer_seed('random_policy', i)}"))
    return listed


def held_out_bundle(sharpness: float, context: Context) -> Bundle:
    """The bundle this sharpness would give, on held-out policy rows instead of the pool."""
    table, split = load_rows(context)
    classifiers = load_classifiers(table, split, context)
    policies = load_policies(split, classifiers, context)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "held_out.npz"
        save_compact(
            path,
            predictions=classifiers.policy_predictions[policies.held_out],
            labels=table.labels[split.policy_rows[policies.held_out]],
            rewards=DenseRewards(policies.held_out_rewards),
            sharpness=sharpness,
            policies=recipes(policies, context),
            num_classes=table.num_classes,
            model_names=classifiers.model_names,
        )
        return Bundle.load(path)


def context_pays(
    classifiers: Classifiers, policies: Policies, policy_labels: np.ndarray, margin: float
) -> dict[str, Any]:
    """On rows nobody was trained on: does the best normal policy beat the best classifier by `margin`?"""
    labels, predictions = policy_labels[policies.held_out], classifiers.policy_predictions[policies.held_out]
    normal = np.array([kind == "normal" for kind in policies.kinds])
    best_policy = policy_accuracies(policies.held_out_rewards[:, normal], predictions, labels).max()
    best_classifier = model_accuracies(predictions, labels).max()
    gain = float(best_policy - best_classifier)
    return {
        "best_classifier": round(float(best_classifier), 4),
        "best_normal_policy": round(float(best_policy), 4),
        "required_gain": margin,
        "gain": round(gain, 4),
        "met": gain > 0 and gain >= margin,
    }


main = entry_point(run)

if __name__ == "__main__":
    main()
