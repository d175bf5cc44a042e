"""The report as one HTML page; computes nothing that records, figures, tables and ledger do not hold."""

from __future__ import annotations

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from omegaconf import DictConfig

import cams
from cams.files import write_text
from experiments.claims.page import OWN_WORDS, number
from experiments.report.figures import as_script, collect_figures
from experiments.report.parts import read_cards, read_ledger, read_runs, read_tables
from experiments.runner.freshness import notes_on_records

PARTS = Path(__file__).parent
NUMBER = re.compile(r"-|[-+]?[\d,.]+(e[-+]?\d+)?( %)?( to [\d,.]+( %)?)?")


def render_page(cfg: DictConfig) -> str:
    """Return the page as text."""
    results, seed = Path(cfg.paths.results), int(cfg.seed)
    runs = read_runs(results, seed)
    if not runs:
        raise cams.InputError(f"{results} has no records of seed {seed}; `python -m experiments.all` makes them")
    figures = collect_figures(results, seed, list(cfg.order))
    environment = Environment(
        loader=FileSystemLoader(PARTS), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["slug"] = lambda text: re.sub(r"\W+", "-", str(text).lower())
    environment.filters["number"] = number
    environment.filters["own_word"] = OWN_WORDS.__getitem__
    environment.filters["is_number"] = lambda text: bool(NUMBER.fullmatch(str(text).strip()))
    return environment.get_template("page.html").render(
        title=cfg.title,
        style=(PARTS / "page.css").read_text(encoding="utf-8"),
        script=(PARTS / "plot.js").read_text(encoding="utf-8") + (PARTS / "page.js").read_text(encoding="utf-8"),
        ledger=read_ledger(results),
        figures=figures,
        data=as_script({figure.name: figure.data for figure in figures if figure.data}),
        tables=read_tables(results),
        cards=read_cards(Path(cfg.paths.cards)),
        runs=runs,
        notes=notes_on_records(results, seed),
        seed=seed,
    )


def write_report(cfg: DictConfig, page: Path) -> Path:
    """Write the page in one step and return its path."""
    write_text(page, render_page(cfg))
    return page
