"""What code the stages of a data set run, as files that DVC can watch: `<work>/code/<dataset>/<stage>.json`.

The stages depend on these files instead of on lists of modules kept by hand: no module is forgotten, an edit reruns
only the stages that use it, and a comment reruns nothing.

python -m data_prep.pipeline.watched dataset=drift
"""

from cams.files import write_json
from data_prep.pipeline.code import code_hashes
from data_prep.pipeline.context import Context
from data_prep.pipeline.stage import entry_point

STAGES = ("fetch", "split", "classifiers", "policies", "sharpness", "bundle")


def run(context: Context) -> None:
    for stage in STAGES:
        hashes = code_hashes(f"data_prep.{stage}", f"data_prep.datasets.{context.dataset}")
        write_json(context.work / "code" / context.dataset / f"{stage}.json", hashes)


main = entry_point(run)

if __name__ == "__main__":
    main()
