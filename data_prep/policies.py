"""Stage 4: train policies to predict which classifiers are right, to `<work>/policies/<dataset>.npz`.

python -m data_prep.policies dataset=drift scale=laptop seed=0
"""

from pathlib import Path

from cams.files import write_json
from data_prep.pipeline.artefacts import keep, load_classifiers, load_rows
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import get_dataset
from data_prep.pipeline.metrics import by_name, policy_accuracies, stored_policy_accuracies
from data_prep.pipeline.stage import entry_point


def run(context: Context) -> Path:
    table, split = load_rows(context)
    classifiers = load_classifiers(table, split, context)
    trained = get_dataset(context.dataset).train_policies(table, split, classifiers, context)
    path = keep(trained, "policies", context)
    held_out = policy_accuracies(
        trained.held_out_rewards,
        classifiers.policy_predictions[trained.held_out],
        table.labels[split.policy_rows[trained.held_out]],
    )
    on_pool = stored_policy_accuracies(
        trained.pool_rewards, classifiers.pool_predictions, table.labels[split.pool_rows]
    )
    write_json(
        context.metrics_path("policies"),
        {
            "accuracy_held_out": by_name(trained.names, held_out),
            "accuracy_pool": by_name(trained.names, on_pool),
        },
    )
    return path


main = entry_point(run)

if __name__ == "__main__":
    main()
