"""How sharp should advice be? CAMS replayed on held-out policy rows, for every sharpness of a grid.

The test pool is not looked at. The one value in conf/prep.yaml is the best on average over the data sets.

python -m data_prep.sharpness dataset=drift
"""

from pathlib import Path

import numpy as np

from cams import Bundle, replay
from cams.files import write_json
from data_prep.bundle import held_out_bundle
from data_prep.pipeline.context import Context
from data_prep.pipeline.stage import entry_point


def run(context: Context) -> Path:
    settings = context.sharpness_check
    relative = {
        str(sharpness): relative_loss(held_out_bundle(sharpness, context), context) for sharpness in settings.grid
    }
    write_json(context.metrics_path("sharpness"), {"relative_loss_held_out": relative})
    return context.metrics_path("sharpness")


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
