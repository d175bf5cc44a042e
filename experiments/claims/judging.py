"""From records to verdicts: every check of a list of claims measured, judged, and explained where it does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from experiments.claims.evidence import Evidence, TooLittle, estimate
from experiments.claims.rules import HOLDS, NOT_MEASURED, SCORES, condition_in_words, joint_verdict, outcome, verdict
from experiments.claims.statistics import STATISTICS, title
from experiments.records.store import read_record, record_path

SYNTHETIC = "synthetic"


@lru_cache(maxsize=8)
def _evidence(path: Path) -> Evidence:
    return Evidence(read_record(path))


def judge(config: dict[str, Any], results: Path, seed: int) -> list[dict[str, Any]]:
    """Return every claim with its verdict, one entry per data set, one per check below that."""
    return [_judge_claim(claim, config, results, seed) for claim in config["claims"]]


def _judge_claim(claim: dict[str, Any], config: dict[str, Any], results: Path, seed: int) -> dict[str, Any]:
    entries = [_judge_dataset(claim, dataset, config, results, seed) for dataset in claim["datasets"]]
    facts = {key: claim[key] for key in ("id", "title", "statement", "experiment")}
    return facts | join_datasets(entries, config["verdict"])


def join_datasets(entries: list[dict[str, Any]], thresholds: dict[str, float]) -> dict[str, Any]:
    joint = joint_verdict([entry["verdict"] for entry in entries], thresholds)
    measured = sum(entry["verdict"] != NOT_MEASURED for entry in entries)
    return {"verdict": joint, "measured": measured, "datasets": entries}


def _judge_dataset(
    claim: dict[str, Any], dataset: str, config: dict[str, Any], results: Path, seed: int
) -> dict[str, Any]:
    experiment = claim.get("experiments", {}).get(dataset, claim["experiment"])
    # The parts of a claim about synthetic streams are called like their experiments.
    stream = SYNTHETIC if dataset in claim.get("experiments", {}) else dataset
    figure = f"figures/{experiment}/{stream}.png"

    def measured(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = []
        for check in checks:
            path = record_path(results, check.get("experiment", experiment), stream, seed)
            if path.exists():
                with suppress(TooLittle):
                    found.append(_measure(check | {"points": config["equal_cost_points"]}, _evidence(path), config))
        return found

    wanted = list(_checks(claim, "checks", dataset))
    checks = measured(wanted)
    complete = bool(checks) and len(checks) == len(wanted)
    return {
        "dataset": dataset,
        "title": config["titles"].get(dataset, dataset),
        "paper": claim.get("paper", {}).get(dataset, ""),
        "verdict": verdict([c["outcome"] for c in checks], config["verdict"]) if complete else NOT_MEASURED,
        "figure": figure if (results / figure).exists() else None,
        "checks": checks,
        "analysis": _explain(checks),
        "beside": measured(list(_checks(claim, "beside", dataset))),
    }


def _checks(claim: dict[str, Any], kind: str, dataset: str) -> Iterator[dict[str, Any]]:
    """Yield the checks that speak of a data set, one for each baseline where several are listed."""
    for check in claim.get(kind, []):
        if dataset not in check.get("datasets", claim["datasets"]):
            continue
        baselines = check.get("baseline")
        for baseline in baselines if isinstance(baselines, list) else [baselines]:
            yield {**check, "baseline": baseline}


def _measure(check: dict[str, Any], evidence: Evidence, config: dict[str, Any]) -> dict[str, Any]:
    """Return one check measured and, if it has a condition, judged; without one it is only shown."""
    statistic = STATISTICS[check["statistic"]]
    found = estimate(statistic.measure(evidence, check), evidence.realizations, **config["interval"])
    result = outcome(found, check)
    return {
        "statistic": check["statistic"],
        "text": statistic.text.format(**_words(check), budget=f"{evidence.budget:,}"),
        "unit": statistic.unit,
        "condition": condition_in_words(check, statistic.unit),
        "value": found.value,
        "low": found.low if statistic.has_interval else None,
        "high": found.high if statistic.has_interval else None,
        "outcome": result,
        "details": statistic.details(evidence, check),
        "analysis": None if result in (HOLDS, None) else statistic.analysis(evidence, check),
    }


def _words(check: dict[str, Any]) -> dict[str, str]:
    names = {key: title(str(check.get(key, ""))) for key in ("learner", "baseline", "reference", "quantity")}
    return names | {"cost": str(check.get("cost")), "margin": f"{100 * check.get('margin', 0):g} %"}


def _explain(checks: list[dict[str, Any]]) -> str | None:
    """Return the analysis of the check that holds least; the others have theirs beside them."""
    open_checks = [check for check in checks if check["outcome"] != HOLDS]
    if not open_checks:
        return None
    return str(min(open_checks, key=lambda check: SCORES[check["outcome"]])["analysis"])
