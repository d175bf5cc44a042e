"""The ledger as a Markdown page. Every number comes from the ledger; nothing is computed here."""

from __future__ import annotations

import re
from math import isinf, isnan
from typing import Any

from experiments.claims.rules import NOT_MEASURED, NOT_REPRODUCED, PARTLY, REPRODUCED

TITLES = {
    "cifar10": "CIFAR10",
    "drift": "DRIFT",
    "vertebral": "VERTEBRAL",
    "hiv": "HIV",
    "covtype": "CovType",
    "theory_stochastic": "synthetic, stochastic",
    "theory_adversarial": "synthetic, adversarial",
}
ORDER = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_MEASURED)


def page(ledger: dict[str, Any]) -> str:
    parts = [
        "# What holds here of what the paper claims",
        "Written by `python -m experiments.claims` from the records; the statistics and the rules of the verdicts are "
        "in `conf/claims.yaml` and were fixed before the first record was made. Intervals are 90 % bootstrap intervals "
        "over realizations, paired between learners. A check *holds* when its whole interval meets the condition, "
        "*leans* when only the estimate does; a verdict is *reproduced* when every check holds and *partly* from half "
        "of them on.",
        _summary_line(ledger["summary"]),
        _overview(ledger["claims"]),
    ]
    parts += [_claim_section(claim) for claim in ledger["claims"]]
    if ledger["training_seeds"]:
        parts.append(_seeds_section(ledger))
    return "\n\n".join(parts) + "\n"


def with_summary(text: str, summary: dict[str, int]) -> str:
    """Return a page with the ledger's summary between its two marks; a page without them stays as it is."""
    return re.sub(
        r"(<!-- claims -->).*?(<!-- /claims -->)",
        lambda found: f"{found[1]}{_summary_line(summary)}{found[2]}",
        text,
        flags=re.DOTALL,
    )


def _summary_line(summary: dict[str, int]) -> str:
    return "**" + ", ".join(f"{summary[name]} {name}" for name in ORDER if summary.get(name)) + "** of 12 claims."


def _overview(claims: list[dict[str, Any]]) -> str:
    rows = ["| | claim | verdict | by data set |", "|---|---|---|---|"]
    for claim in claims:
        by = ", ".join(f"{TITLES[entry['dataset']]}: {entry['verdict']}" for entry in claim["datasets"])
        of = len(claim["datasets"])
        part = "" if claim["measured"] in (0, of) else f" ({claim['measured']} of {of} measured)"
        name = f"[{claim['title']}](#claim-{claim['id']})"
        rows.append(f"| {claim['id']} | {name} | **{claim['verdict']}**{part} | {by} |")
    return "\n".join(rows)


def _claim_section(claim: dict[str, Any]) -> str:
    head = f'<a id="claim-{claim["id"]}"></a>\n\n## {claim["id"]}. {claim["title"]}: {claim["verdict"]}'
    return "\n\n".join([head, claim["statement"], *(_dataset_section(entry) for entry in claim["datasets"])])


def _dataset_section(entry: dict[str, Any]) -> str:
    figure = f" ([figure]({entry['figure']}))" if entry["figure"] else ""
    paper = f" The paper: {entry['paper']}." if entry["paper"] else ""
    head = f"**{TITLES[entry['dataset']]}: {entry['verdict']}.**{paper}{figure}"
    if not entry["checks"]:
        return f"{head} There is no record."
    rows = ["| statistic | ours (90 % interval) | wanted | |", "|---|---|---|---|"]
    rows += [
        f"| {check['text']}{_where(check)} | {interval(check)} | {check['condition']} | {check['outcome']} |"
        for check in entry["checks"]
    ]
    parts = [head, "\n".join(rows)]
    if entry["analysis"]:
        parts.append(entry["analysis"])
    return "\n\n".join(parts)


def _where(check: dict[str, Any]) -> str:
    """Where on the cost axis the learner leads, and the area between the curves."""
    details = check["details"]
    if not details:
        return ""
    low, high = details["common_costs"]
    return (
        f" (labels {low:,.0f} to {high:,.0f}: leads on {details['share_leading']:.0%}, area {details['area']:,.0f})"
        if high > low
        else " (no common cost)"
    )


def interval(check: dict[str, Any]) -> str:
    """Format value and interval in the check's unit."""
    value, low, high = (number(check[key], check["unit"]) for key in ("value", "low", "high"))
    # A share of the axis is judged as it is, without an interval.
    return value if check["statistic"] == "share_within_bands" else f"{value} ({low} to {high})"


def number(value: float | None, unit: str) -> str:
    if value is None or isnan(value):
        return "undefined"
    if isinf(value):
        return "never"
    if unit == "share":
        return f"{value:.1%}"
    # Rounded first: an exponent of 1e-17 is 0.
    return f"{round(value, 6):,.3g}" if unit == "ratio" else f"{value:,.2f}"


def _seeds_section(ledger: dict[str, Any]) -> str:
    seeds = ledger["training_seeds"]
    names = " | ".join(f"seed {seed}" for seed in seeds)
    verdicts = [f"| claim | data set | {names} |", "|---|---|" + "---|" * len(seeds)]
    spread = ["| claim | data set | statistic | least | most | holds |", "|---|---|---|---|---|---|"]
    for entry in ledger["robustness"]:
        head = f"| {entry['id']} | {TITLES[entry['dataset']]} | "
        verdicts.append(head + " | ".join(entry["verdicts"].get(str(seed), NOT_MEASURED) for seed in seeds) + " |")
        for row in entry["spread"]:
            least, most = (number(row[key], row["unit"]) for key in ("least", "most"))
            wanted = f"{row['text']}, {row['condition']}"
            spread.append(f"{head}{wanted} | {least} | {most} | {row['holds']} of {row['seeds']} |")
    return "\n\n".join(
        [
            "## The same with other training seeds",
            "New splits, classifiers and policies for every seed, so that a verdict is about the method and not about "
            "one zoo. Seed 0 is the one above.",
            "\n".join(verdicts),
            "How far each statistic spreads over the seeds:",
            "\n".join(spread),
        ]
    )
