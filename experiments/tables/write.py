"""All tables, from the records on disk and conf/paper.yaml, as CSV, Markdown and LaTeX (booktabs).

    python -m experiments.all 'steps=[tables]'

results/tables/{methods,collections,bounds,maximal_queries,active_learning}.{csv,md,tex}
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from cams.files import write_text
from cams.plotting.appearance import title_of
from data_prep.pipeline.catalogue import catalogue
from experiments.figures.compose import dataset_title
from experiments.records.record import Record
from experiments.records.store import read_record, record_path
from experiments.runner.configuration import compose_experiment
from experiments.runner.jobs import say_now
from experiments.runner.places import Places, record_state
from experiments.runner.resolve import make_plan
from experiments.statistics.bands import band
from experiments.tables.bounds import bound_table
from experiments.tables.headlines import write_headline
from experiments.tables.paper import read_paper

TABLES = Path("tables")
MISSING = "-"


def main_records(results: Path, say: Callable[[str], None], seed: int = 0) -> dict[str, Record]:
    """Return the record of the main comparison for every data set that has one, and say which are stale."""
    found = {}
    places = Places(results / "bundles", results)
    for dataset in catalogue():
        for experiment in ("main", "covtype", "imagenet"):
            path = record_path(results, experiment, dataset, seed)
            if path.exists():
                found[dataset] = read_record(path)
                state = record_state(make_plan(compose_experiment(experiment), dataset), places)
                if not state.is_current:
                    say(f"tables: the record of {experiment} on {dataset} is {state}")
                break
    return found


def own_records(results: Path, records: dict[str, Record], seed: int = 0) -> dict[str, Record]:
    """Return the record of our own learners for every data set on which they had the streams of the main comparison."""
    paths = {dataset: record_path(results, "cams_plus", dataset, seed) for dataset in records}
    found = {dataset: read_record(path) for dataset, path in paths.items() if path.exists()}
    same = ("horizon", "realizations", "seed")
    return {
        dataset: record
        for dataset, record in found.items()
        if all(record.plan[key] == records[dataset].plan[key] for key in same)
    }


def marks(entry: dict[str, Any]) -> pd.DataFrame:
    """Return a table of ticks: one row per method, one column per property."""
    rows = {name: ["yes" if value else "no" for value in values] for name, values in entry["rows"].items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=entry["columns"]).rename_axis("Method").reset_index()


def collections(records: dict[str, Record], paper: dict[str, Any]) -> pd.DataFrame:
    """Return the data sets as they are here, the paper's numbers beside ours."""
    rows = []
    for dataset, record in records.items():
        facts, plan, theirs = record.facts["bundle"], record.plan, paper.get(dataset, {})
        kinds = ", ".join(f"{count} {kind}" for kind, count in facts["policy_kinds"].items())
        worst, best = facts["classifier_accuracy"]
        rows.append(
            {
                "Data set": dataset_title(dataset),
                "Classes": facts["classes"],
                "Test pool": facts["rows"],
                "Paper's pool": theirs.get("pool", MISSING),
                "Stream": plan["horizon"],
                "Realizations": plan["realizations"],
                "Classifiers": facts["classifiers"],
                "Paper's classifiers": theirs.get("classifiers", MISSING),
                "Policies": facts["policies"],
                "Paper's policies": theirs.get("policies", MISSING),
                "Kinds of policies": kinds,
                "Classifier accuracy": f"{100 * worst:.1f} to {100 * best:.1f} %",
                "Best policy's accuracy": f"{100 * facts['best_policy_accuracy']:.1f} %",
            }
        )
    return pd.DataFrame(rows)


def maximal_queries(records: dict[str, Record], paper: dict[str, Any]) -> pd.DataFrame:
    """Return per learner and data set: loss with no label, most labels bought, mean loss and its 90 % band."""
    rows = []
    for dataset, record in records.items():
        for learner in paper:
            bought, errors = record.runs(learner)
            loss = band(errors[-1])
            without = f"{errors[0].mean():.1f}" if not bought[0].any() else MISSING
            theirs = paper[learner].get(dataset, [MISSING, MISSING])
            rows.append(
                {
                    "Data set": dataset_title(dataset),
                    "Learner": title_of(learner),
                    "Errors with no label": without,
                    "Max. labels": int(bought[-1].max()),
                    "Mean labels": f"{bought[-1].mean():.1f}",
                    "Errors": f"{loss.mean:.1f}",
                    "90 % band": f"{loss.low:.1f} to {loss.high:.1f}",
                    "Paper: max. labels": theirs[0],
                    "Paper: errors": theirs[1],
                }
            )
    return pd.DataFrame(rows)


def write_table(table: pd.DataFrame, stem: Path, caption: str) -> None:
    """Write a table three times, each file in one step."""
    latex = table.style.hide(axis="index").format(escape="latex").format_index(escape="latex", axis=1)
    texts = {
        "csv": table.to_csv(index=False),
        "md": f"{caption}\n\n{table.to_markdown(index=False, disable_numparse=True)}\n",
        "tex": latex.to_latex(
            hrules=True, caption=caption.replace("%", r"\%"), label=f"tab:{stem.name}", position_float="centering"
        ),
    }
    for kind, text in texts.items():
        write_text(stem.with_name(f"{stem.name}.{kind}"), text)


def write_tables(results: Path, say: Callable[[str], None] = say_now) -> list[str]:
    """Write every table for which there are records; return their names."""
    paper, records = read_paper(), main_records(results, say)
    tables = {
        "methods": (marks(paper["methods"]), "Problem setups of related methods, as the paper compares them."),
        "active_learning": (marks(paper["active_learning"]), "Settings of recent work in active learning."),
    }
    if records:
        tables |= {
            "collections": (
                collections(records, paper["collections"]),
                "The collections, measured on the bundles, with the paper's counts beside ours.",
            ),
            "maximal_queries": (
                maximal_queries(records, paper["maximal_queries"]),
                "Mean cumulative loss with no label, then at the largest budget with its 90 % band (Student t over "
                "realizations) and the most labels bought in any realization, beside the paper's.",
            ),
            "bounds": (
                bound_table(records, own_records(results, records)),
                "Regret and query bounds with the quantities measured on each pool put in (failure probability 0.1), "
                "and what CAMS and our own learners did. A dash: an assumption of the bound does not hold there, or "
                "nothing was measured. Theorem 1 assumes that the best policy's advice never ties; rows where it does "
                "are left out of its least lead.",
            ),
        }
        for dataset, record in records.items():
            write_headline(record, results, dataset)
    for name, (table, caption) in tables.items():
        write_table(table, results / TABLES / name, caption)
        say(f"table {name}: {len(table)} rows ({results / TABLES / name}.md)")
    return list(tables)
