"""The ledger in words: a Markdown page, and the lines that other documents take from it. Nothing is computed here."""

from __future__ import annotations

import re
from math import isinf, isnan
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.claims.rules import NOT_MEASURED, NOT_REPRODUCED, PARTLY, REPRODUCED

TEMPLATE = Path(__file__).with_name("page.md")
ORDER = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_MEASURED)
# Our own claims are not reproduced but met.
OWN_WORDS = {REPRODUCED: "holds", PARTLY: "partly", NOT_REPRODUCED: "does not hold", NOT_MEASURED: NOT_MEASURED}

# In the place of a verdict, of a claim that was added after the first ledger.
LATER: dict[str, Any] = {"verdict": "not in it", "datasets": {}}


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATE.parent),
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["interval"] = interval
    environment.filters["own_word"] = OWN_WORDS.__getitem__
    return environment


def render_page(ledger: dict[str, Any], figures: Path = Path()) -> str:
    """Return the page as text; links to figures start from the folder `figures`."""
    return (
        _environment()
        .get_template(TEMPLATE.name)
        .render(
            ledger=ledger,
            figures=figures,
            summary=summary_line(ledger["claims"]),
            own_summary=own_summary_line(ledger["own"]),
        )
    )


def summary_line(claims: list[dict[str, Any]]) -> str:
    return _counted([claim["verdict"] for claim in claims], {name: name for name in ORDER})


def own_summary_line(claims: list[dict[str, Any]]) -> str:
    return _counted([claim["verdict"] for claim in claims], OWN_WORDS)


def _counted(verdicts: list[str], words: dict[str, str]) -> str:
    counts = [f"{verdicts.count(name)} {words[name]}" for name in ORDER if name in verdicts]
    return f"**{', '.join(counts)}** of {len(verdicts)} claims."


def with_summary(text: str, ledger: dict[str, Any], first: dict[str, Any]) -> str:
    """Return a page with the ledger's counts between its marks; a page without marks stays as it is."""
    text = _between(text, "claims", summary_line(ledger["claims"]))
    return _between(text, "own claims", own_summary_line(ledger["own"])) if ledger["own"] else text


def with_first_ledger(text: str, ledger: dict[str, Any], first: dict[str, Any]) -> str:
    """Return the protocol with the verdicts of the first ledger beside those of now."""
    then = {claim["id"]: claim for claim in first["claims"]}
    rows = ["| | claim | first ledger | now | first, by data set | now, by data set |", "|---|---|---|---|---|---|"]
    for claim in ledger["claims"]:
        old = then.get(claim["id"], LATER)
        titles = {entry["dataset"]: entry["title"] for entry in claim["datasets"]}
        before = ", ".join(f"{titles.get(name, name)}: {word}" for name, word in old["datasets"].items())
        now = ", ".join(f"{entry['title']}: {entry['verdict']}" for entry in claim["datasets"])
        verdicts = f"{old['verdict']} | **{claim['verdict']}**"
        rows.append(f"| {claim['id']} | {claim['title']} | {verdicts} | {before} | {now} |")
    return _between(text, "both ledgers", "\n\n" + "\n".join(rows) + "\n\n")


def _between(text: str, mark: str, content: str) -> str:
    pattern = rf"(<!-- {mark} -->).*?(<!-- /{mark} -->)"
    return re.sub(pattern, lambda found: f"{found[1]}{content}{found[2]}", text, flags=re.DOTALL)


def interval(check: dict[str, Any]) -> str:
    """Format value and interval in the check's unit; some values are judged as they are."""
    value, low, high = (number(check[key], check["unit"]) for key in ("value", "low", "high"))
    return value if check["low"] is None else f"{value} ({low} to {high})"


def number(value: float | str | None, unit: str) -> str:
    """Return a number in its unit; the ledger's file has the word "never" for what is infinite."""
    if isinstance(value, str):
        return value
    if value is None or isnan(value):
        return "undefined"
    if isinf(value):
        return "never"
    if unit == "share":
        return f"{100 * value:,.1f} %"
    # Rounded first: an exponent of 1e-17 is 0, and one of -1e-17 too.
    return f"{round(value, 6) + 0.0:,.3g}" if unit == "ratio" else f"{value:,.2f}"
