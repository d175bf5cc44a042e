"""How sharp should advice be? CAMS replayed on held-out policy rows, for every sharpness of a grid.

The test pool is not looked at. The one value in conf/prep.yaml is the best on average over the data sets.

python -m data_prep.sharpness dataset=drift
"""

import tempfile
from pathlib import Path

import numpy as np

from cams import Bundle, replay
from cams.compact import DenseRewards, save_compact
from cams.files import write_json
from data_prep.bundle import load_trained, recipes
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Split, get_dataset
from data_prep.pipeline.stage import entry_point


def run(context: Context) -> None:
    settings = context.sharpness_check
    relative = {
        str(sharpness): relative_loss(held_out_bundle(sharpness, context), context) for sharpness in settings.grid
    }
    write_json(context.metrics_path("sharpness"), {"relative_loss_held_out": relative})


def held_out_bundle(sharpness: float, context: Context) -> Bundle:
    """The bundle this sharpness would give, on held-out policy rows instead of the pool."""
    table, split = get_dataset(context.dataset).load(context), Split.load(context.artefact("splits"))
    classifiers, policies = load_trained(context)
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


def relative_loss(bundle: Bundle, context: Context) -> float:
    """CAMS's mean loss as a share of the best classifier's, averaged over small and large budgets."""
    settings = context.sharpness_check
    horizon = min(settings.horizon, bundle.num_rows)
    budgets = sorted({max(1, round(share * horizon)) for share in settings.budget_shares})
    result = replay(
        bundle, ["cams"], horizon=horizon, budgets=budgets, realizations=settings.realizations, seed=context.seed
    )
    best_classifier = np.mean(result.model_losses, axis=0).min()
    return round(float(result.loss.mean() / best_classifier), 4)


main = entry_point(run)

if __name__ == "__main__":
    main()
