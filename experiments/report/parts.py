"""The parts of the report that are words and tables: ledger, tables, data cards, configuration and versions."""

from __future__ import annotations

import csv
import json
import os
import platform
import re
import subprocess
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import markdown
from omegaconf import OmegaConf

from data_prep.pipeline.shell import CONF
from experiments.claims.page import ORDER, number
from experiments.records.store import read_facts

PACKAGES = (
    *("cams", "numpy", "numba", "scipy", "pandas", "pyarrow", "matplotlib", "hydra-core", "dvc", "joblib"),
    *("scikit-learn", "torch", "torchvision", "torch-geometric", "rdkit"),
)
CODE = ("cams", "conf", "data_prep", "experiments")
MARKDOWN = ("tables", "fenced_code", "toc")


class Table(NamedTuple):
    name: str
    caption: str
    header: list[str]
    rows: list[list[str]]


class Card(NamedTuple):
    name: str
    title: str
    html: str


class Run(NamedTuple):
    """One record: what was replayed, and how long that took where it is known."""

    experiment: str
    dataset: str
    plan: dict[str, Any]
    hash: str
    seconds: float | None
    workers: int | None


def read_ledger(results: Path) -> dict[str, Any] | None:
    """Return the claims ledger with its counts in order and its numbers as text, or None if there is none."""
    path = results / "claims.json"
    if not path.exists():
        return None
    ledger: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    ledger["counts"] = [(name, ledger["summary"].get(name, 0)) for name in ORDER]
    for claim in ledger["claims"]:
        for entry in claim["datasets"]:
            entry["experiment"] = Path(entry["figure"]).parent.name if entry["figure"] else None
            for check in entry["checks"]:
                check["shown"] = [number(check[key], check["unit"]) for key in ("value", "low", "high")]
    return ledger


def read_tables(results: Path) -> list[Table]:
    """Return the tables on disk, each with the caption of its Markdown form."""
    tables = []
    for path in sorted((results / "tables").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        page = path.with_suffix(".md")
        caption = page.read_text(encoding="utf-8").partition("\n")[0] if page.exists() else path.stem
        tables.append(Table(path.stem, caption, header, rows))
    return tables


def read_cards(folder: Path) -> list[Card]:
    """Return the data cards as HTML, their headings below those of the page."""
    cards = []
    for path in sorted(folder.glob("*.md")):
        heading, _, text = path.read_text(encoding="utf-8").partition("\n")
        options = {"toc": {"baselevel": 2, "slugify": partial(_anchor, path.stem)}}
        html = markdown.markdown(text, extensions=MARKDOWN, extension_configs=options)
        cards.append(Card(path.stem, heading.lstrip("# "), wrap_tables(html)))
    return cards


def _anchor(card: str, heading: str, separator: str) -> str:
    """Return the id of a heading; two cards may use the same words."""
    return re.sub(r"\W+", separator, f"{card} {heading}".lower())


def wrap_tables(html: str) -> str:
    """Let wide tables scroll in a box of their own, so that the page itself never does."""
    opening = '<div class="scroll" tabindex="0" role="region" aria-label="table">\n<table>'
    return html.replace("<table>", opening).replace("</table>", "</table>\n</div>")


def read_runs(results: Path, seed: int) -> list[Run]:
    """Return every record of this seed, with its plan."""
    runs = []
    for path in sorted((results / "records").glob(f"*/*/seed{seed}.parquet")):
        facts = read_facts(path)
        if facts:
            names = path.parent.parent.name, path.parent.name
            runs.append(Run(*names, facts["plan"], facts["hash"], None, None))
    return runs


def versions() -> dict[str, str]:
    """Return what the page was made with; packages that are not installed are left out."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def settings(seed: int) -> dict[str, str]:
    """Return seed, scale, machine and commit."""
    parameters = OmegaConf.load(CONF.parent / "params.yaml")
    return {
        "Seed": str(seed),
        "Scale of the training": str(parameters.training.scale),
        "Commit": commit() or "not a git checkout",
        "Machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
    }


def commit() -> str | None:
    """Return the commit of the code, and say if the code or its configuration differs from it."""
    try:
        name = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", *CODE)
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{name} with uncommitted changes" if changed else name


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(CONF.parent), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
