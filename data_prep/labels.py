"""How far can labels matter? CAMS on held-out policy rows with no label, with a few, and with all it wants.

A bundle on which no label changes the loss compares nothing. The test pool is not looked at.

python -m data_prep.labels dataset=drift
"""

import sys
from pathlib import Path

from cams import Bundle, replay
from cams.files import write_json
from data_prep.bundle import held_out_bundle
from data_prep.pipeline.context import Context
from data_prep.pipeline.stage import entry_point


def run(context: Context) -> Path:
    found = errors_by_labels(held_out_bundle(context.sharpness, context), context)
    write_json(context.metrics_path("labels"), found)
    none, few, unlimited = (found[f"errors_{labels}"] for labels in ("no_label", "few_labels", "all_labels"))
    print(
        f"{context.dataset}: in {found['rounds']} rounds on held-out rows CAMS errs {none} times without a label, "
        f"{few} with {found['few_labels']}, {unlimited} with all it wants",
        file=sys.stderr,
    )
    return context.metrics_path("labels")


def errors_by_labels(bundle: Bundle, context: Context) -> dict[str, float]:
    """CAMS's mean number of errors at three budgets, and how many labels it bought without a limit."""
    settings = context.labels_check
    horizon = min(settings.horizon, bundle.num_rows)
    budgets = [0, min(settings.few, horizon), horizon]
    played = replay(
        bundle, ["cams"], horizon=horizon, budgets=budgets, realizations=settings.realizations, seed=context.seed
    )
    none, few, unlimited = (round(float(loss), 1) for loss in played.loss[0].mean(axis=1))
    return {
        "rounds": horizon,
        "few_labels": budgets[1],
        "all_labels": round(float(played.queries[0, 2].mean()), 1),
        "errors_no_label": none,
        "errors_few_labels": few,
        "errors_all_labels": unlimited,
    }


main = entry_point(run)

if __name__ == "__main__":
    main()
