"""How strong should the consensus prior of `cams_plus` be, and how fast should it fade? Held-out policy rows tell.

The test pool is not looked at. K (`prior`) and s0 (`fade`) are one value each for all data sets, in
cams/learners/prior.py; conf/prep.yaml has the grid and the rule by which they are chosen from what this stage writes.

python -m data_prep.prior dataset=drift
"""

from itertools import product
from pathlib import Path

import numpy as np

from cams import Bundle, replay
from cams.files import write_json
from data_prep.bundle import held_out_bundle
from data_prep.pipeline.context import Context
from data_prep.pipeline.stage import entry_point


def run(context: Context) -> Path:
    found = relative_losses(held_out_bundle(context.sharpness, context), context)
    write_json(context.metrics_path("prior"), {"relative_loss_held_out": found})
    return context.metrics_path("prior")


def relative_losses(bundle: Bundle, context: Context) -> dict[str, dict[str, float]]:
    """K -> s0 -> mean loss of `cams_plus` as a share of the best classifier's, averaged over budgets from 0 on."""
    settings = context.prior_check
    horizon = min(settings.horizon, bundle.num_rows)
    grid = list(product(settings.strengths, settings.fades))
    played = replay(
        bundle,
        [{"name": "cams_plus", "label": f"{k}/{s0}", "prior": k, "fade": s0} for k, s0 in grid],
        horizon=horizon,
        budgets=sorted({round(share * horizon) for share in settings.budget_shares}),
        realizations=settings.realizations,
        seed=context.seed,
    )
    best_classifier = np.mean(played.model_losses, axis=0).min()
    found: dict[str, dict[str, float]] = {str(k): {} for k in settings.strengths}
    for (k, s0), loss in zip(grid, played.loss, strict=True):
        found[str(k)][str(s0)] = round(float(loss.mean() / best_classifier), 4)
    return found


def chosen(found: list[dict[str, dict[str, float]]]) -> tuple[float, float]:
    """The rule of conf/prep.yaml, from what `run` wrote for each data set: (K, s0)."""
    mean = {(float(k), float(s0)): np.mean([one[k][s0] for one in found]) for k in found[0] for s0 in found[0][k]}
    return min(pair for pair, loss in mean.items() if loss <= 1.01 * min(mean.values()))


main = entry_point(run)

if __name__ == "__main__":
    main()
