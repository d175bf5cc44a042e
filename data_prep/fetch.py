"""Stage 1: raw files to checked, parsed arrays in `<work>/raw/<dataset>/`.

python -m data_prep.fetch dataset=drift
"""

from pathlib import Path

from cams.files import require_writable
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import get_dataset
from data_prep.pipeline.stage import entry_point


def run(context: Context) -> Path:
    # Before anything is downloaded; the other stages only read there.
    require_writable(context.raw_dir)
    get_dataset(context.dataset).fetch(context)
    return context.raw_dir


main = entry_point(run)

if __name__ == "__main__":
    main()
