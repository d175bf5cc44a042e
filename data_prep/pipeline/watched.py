"""What code every stage of dvc.yaml runs, as one file that DVC can watch.

    python -m data_prep.pipeline.watched        # writes results/code.json: stage -> hash, or stage -> data set -> hash

The stages depend on their entries there instead of on lists of modules kept by hand: no module is forgotten, an edit
reruns only the stages that use it, and a comment reruns nothing.
"""

import hashlib
from pathlib import Path

from cams.errors import lookup
from cams.files import write_json
from data_prep.pipeline import code
from data_prep.pipeline.catalogue import catalogue, listed_names
from data_prep.pipeline.shell import plain_entry_point

PLACE = Path("results/code.json")

# The modules at the door of each stage; those of preparation also run the module of their data set, `seeds` of all.
PREPARATION = ("fetch", "split", "classifiers", "policies", "sharpness", "labels", "prior", "bundle")
EXPERIMENTS = {
    "seeds": ("experiments.claims.training_seeds", *(f"data_prep.{stage}" for stage in PREPARATION)),
    "replay": ("experiments.runner.jobs",),
    "figures": ("experiments.figures.compose",),
    "tables": ("experiments.tables.write",),
    "claims": ("experiments.claims.__main__",),
    "report": ("experiments.report.__main__",),
}


def watched(datasets: list[str]) -> dict[str, str | dict[str, str]]:
    """Hash of the code of every stage."""
    hashes: dict[str, str | dict[str, str]] = {}
    for stage in PREPARATION:
        hashes[stage] = {name: digest(f"data_prep.{stage}", f"data_prep.datasets.{name}") for name in datasets}
    modules = [f"data_prep.datasets.{name}" for name in datasets]
    hashes |= {stage: digest(*roots) for stage, roots in EXPERIMENTS.items()}
    return hashes | {"seeds": digest(*EXPERIMENTS["seeds"], *modules)}


def digest(*roots: str) -> str:
    """Hash of the code that the roots reach, and of what lies beside it: styles, templates, scripts."""
    lines = [code.code_digest(*roots)]
    for path in sorted({path for module in code.reached(*roots) for path in beside(module)}):
        lines.append(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def beside(module: str) -> list[Path]:
    """Files in the folder of a module that are not Python and belong to it."""
    folder = code.ROOT.joinpath(*module.split("."))
    folder = folder if folder.is_dir() else folder.parent
    return [
        path
        for path in folder.iterdir()
        if path.is_file() and path.suffix in {".css", ".html", ".js", ".md", ".mplstyle"}
    ]


def listed_datasets(params: Path) -> list[str]:
    """The data sets that params.yaml lists, each with a module of its own."""
    names = listed_names(params)
    for name in names:
        lookup(catalogue(), name, f"data set of {params}")
    return names


@plain_entry_point
def main(_words: list[str]) -> None:
    write_json(code.ROOT / PLACE, watched(listed_datasets(code.ROOT / "params.yaml")))


if __name__ == "__main__":
    main()
