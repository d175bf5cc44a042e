"""Stage 3: train the specialists and keep their predictions, to `<work>/classifiers/<dataset>.npz`.

python -m data_prep.classifiers dataset=drift scale=laptop seed=0
"""

from pathlib import Path

from cams.files import write_json
from data_prep.pipeline.artefacts import keep, load_rows
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import get_dataset
from data_prep.pipeline.metrics import by_name, model_accuracies
from data_prep.pipeline.stage import entry_point


def run(context: Context) -> Path:
    table, split = load_rows(context)
    trained = get_dataset(context.dataset).train_classifiers(table, split, context)
    path = keep(trained, "classifiers", context)
    on_policy_rows = model_accuracies(trained.policy_predictions, table.labels[split.policy_rows])
    on_pool = model_accuracies(trained.pool_predictions, table.labels[split.pool_rows])
    write_json(
        context.metrics_path("classifiers"),
        {
            "accuracy_policy_rows": by_name(trained.model_names, on_policy_rows),
            "accuracy_pool": by_name(trained.model_names, on_pool),
        },
    )
    return path


main = entry_point(run)

if __name__ == "__main__":
    main()
