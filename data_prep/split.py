"""Stage 2: row ids for classifiers, for policies and of the test pool, to `<work>/splits/<dataset>.npz`.

python -m data_prep.split dataset=drift scale=laptop seed=0
"""

from pathlib import Path

from data_prep.pipeline.artefacts import keep
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import get_dataset
from data_prep.pipeline.stage import entry_point


def run(context: Context) -> Path:
    dataset = get_dataset(context.dataset)
    return keep(dataset.split(dataset.load(context), context), "splits", context)


main = entry_point(run)

if __name__ == "__main__":
    main()
