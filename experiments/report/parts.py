"""The parts of the report that are words and tables: ledger, tables, data cards and records."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import markdown

import cams
from cams.files import visible
from data_prep.pipeline.catalogue import catalogue
from data_prep.pipeline.schema import check
from experiments.claims.ledger import stored_ledger
from experiments.claims.page import ORDER, OWN_WORDS, number
from experiments.records.store import read_record
from experiments.report.shape import LEDGER

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
    """One record and what was replayed for it."""

    experiment: str
    dataset: str
    plan: dict[str, Any]
    hash: str


@contextmanager
def named_if_damaged(path: Path, command: str) -> Iterator[None]:
    """Refuse a file that is not what its writer left, and say what writes it."""
    try:
        yield
    except (cams.InputError, OSError, LookupError, TypeError, ValueError, AttributeError, csv.Error):
        raise cams.InputError(f"{path} is damaged; `{command}` makes it anew") from None


def read_ledger(results: Path) -> dict[str, Any] | None:
    """Return the claims ledger with its counts in order and its numbers as text, or None if there is none."""
    path = results / "claims.json"
    if not path.exists():
        return None
    with named_if_damaged(path, "python -m experiments.claims"):
        ledger = stored_ledger(results)
        check(ledger, LEDGER, "")
        return _with_words(ledger)


def _with_words(ledger: dict[str, Any]) -> dict[str, Any]:
    ledger["counts"] = [(name, ledger["summary"].get(name, 0)) for name in ORDER]
    for claim in ledger["own"]:
        claim["word"] = OWN_WORDS[claim["verdict"]]
    for claim in ledger["claims"]:
        claim["word"] = claim["verdict"]
        for entry in claim["datasets"]:
            entry["experiment"] = Path(entry["figure"]).parent.name if entry["figure"] else None
            for measured in entry["checks"] + entry["beside"]:
                measured["shown"] = [number(measured[key], measured["unit"]) for key in ("value", "low", "high")]
    return ledger


def read_tables(results: Path) -> list[Table]:
    """Return the tables on disk, each with the caption of its Markdown form."""
    tables = []
    for path in visible(results / "tables", "*.csv"):
        with named_if_damaged(path, "python -m experiments.all 'steps=[tables]'"):
            tables.append(_read_table(path))
    return tables


def _read_table(path: Path) -> Table:
    with path.open(newline="", encoding="utf-8") as file:
        header, first, *rows = csv.reader(file)
    if any(len(row) != len(header) for row in (first, *rows)):
        raise ValueError("a row is longer or shorter than the header")
    page = path.with_suffix(".md")
    caption = page.read_text(encoding="utf-8").partition("\n")[0] if page.exists() else path.stem
    return Table(path.stem, caption, header, [first, *rows])


def read_cards(folder: Path) -> list[Card]:
    """Return the data cards as HTML, their headings below those of the page, in the order of the data sets."""
    order = {name: place for place, name in enumerate(catalogue())}
    cards = []
    for path in sorted(visible(folder, "*.md"), key=lambda path: (order.get(path.stem, len(order)), path.stem)):
        heading, _, text = _text_of(path).partition("\n")
        options = {"toc": {"baselevel": 2, "slugify": partial(_anchor, path.stem)}}
        html = markdown.markdown(text, extensions=MARKDOWN, extension_configs=options)
        cards.append(Card(path.stem, heading.lstrip("# "), wrap_tables(html)))
    return cards


def _text_of(card: Path) -> str:
    try:
        return card.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise cams.InputError(f"the data card {card} cannot be read as text: {error}") from None


def _anchor(card: str, heading: str, separator: str) -> str:
    """Return the id of a heading; two cards may use the same words."""
    return re.sub(r"\W+", separator, f"{card} {heading}".lower())


def wrap_tables(html: str) -> str:
    """Let wide tables scroll in a box of their own, so that the page itself never does."""
    opening = '<div class="scroll" tabindex="0" role="region" aria-label="table">\n<table>'
    return html.replace("<table>", opening).replace("</table>", "</table>\n</div>")


def read_runs(results: Path, seed: int) -> list[Run]:
    """Return every record of this seed, with its plan; a damaged one is refused."""
    runs = []
    for path in visible(results / "records", f"*/*/seed{seed}.parquet"):
        facts = read_record(path).facts
        runs.append(Run(path.parent.parent.name, path.parent.name, facts["plan"], facts["hash"]))
    return runs
