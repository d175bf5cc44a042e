"""From records to verdicts: every check of conf/claims.yaml measured, judged, and explained where it does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.claims.analysis import ANALYSES, title
from experiments.claims.evidence import Evidence, TooLittle, estimate
from experiments.claims.rules import (
    CONDITIONS,
    HOLDS,
    NOT_MEASURED,
    SCORES,
    condition_of,
    joint_verdict,
    outcome,
    verdict,
)
from experiments.claims.statistics import STATISTICS
from experiments.records.store import read_facts, read_record, record_path
from experiments.statistics.label_cost import area_between, leading_ranges, share_leading

SYNTHETIC = "synthetic"
REAL = ("cifar10", "drift", "vertebral", "hiv", "covtype")


@lru_cache(maxsize=8)
def _evidence(path: Path) -> Evidence:
    return Evidence(read_record(path))


def find_evidence(results: Path, experiment: str, dataset: str, seed: int) -> Evidence | None:
    """Return the evidence of one record, or None if there is no whole one."""
    path = record_path(results, experiment, dataset if dataset in REAL else SYNTHETIC, seed)
    return _evidence(path) if read_facts(path) else None


def judge(config: dict[str, Any], results: Path, seed: int) -> list[dict[str, Any]]:
    """Return every claim with its verdict, one entry per data set, one per check below that."""
    return [_judge_claim(claim, config, results, seed) for claim in config["claims"]]


def _judge_claim(claim: dict[str, Any], config: dict[str, Any], results: Path, seed: int) -> dict[str, Any]:
    entries = [_judge_dataset(claim, dataset, config, results, seed) for dataset in claim["datasets"]]
    facts = {key: claim[key] for key in ("id", "title", "statement", "experiment")}
    joint = joint_verdict([entry["verdict"] for entry in entries], config["verdict"])
    measured = sum(entry["verdict"] != NOT_MEASURED for entry in entries)
    return {**facts, "verdict": joint, "measured": measured, "datasets": entries}


def _judge_dataset(
    claim: dict[str, Any], dataset: str, config: dict[str, Any], results: Path, seed: int
) -> dict[str, Any]:
    experiment = claim.get("experiments", {}).get(dataset, claim["experiment"])
    stem = f"figures/{experiment}/{dataset if dataset in REAL else SYNTHETIC}.png"
    checks = []
    for check in _checks(claim, dataset):
        source = find_evidence(results, check.get("experiment", experiment), dataset, seed)
        if source is None:
            continue
        with suppress(TooLittle):
            checks.append(_measure({**check, "points": config["equal_cost_points"]}, source, config["interval"]))
    wanted = sum(1 for _ in _checks(claim, dataset))
    complete = bool(checks) and len(checks) == wanted
    return {
        "dataset": dataset,
        "paper": claim["paper"].get(dataset, ""),
        "verdict": verdict([c["outcome"] for c in checks], config["verdict"]) if complete else NOT_MEASURED,
        "figure": stem if (results / stem).exists() else None,
        "checks": checks,
        "analysis": _explain(checks),
    }


def _checks(claim: dict[str, Any], dataset: str) -> Iterator[dict[str, Any]]:
    """Yield the checks that speak of a data set, one for each baseline where several are listed."""
    for check in claim["checks"]:
        if dataset not in check.get("datasets", claim["datasets"]):
            continue
        baselines = check.get("baseline")
        for baseline in baselines if isinstance(baselines, list) else [baselines]:
            yield {**check, "baseline": baseline}


def _measure(check: dict[str, Any], evidence: Evidence, interval: dict[str, Any]) -> dict[str, Any]:
    statistic = STATISTICS[check["statistic"]]
    found = estimate(statistic.make(evidence, check), evidence.realizations, **interval)
    name, limit = condition_of(check)
    result = outcome(found, check)
    words = {key: title(str(check.get(key, ""))) for key in ("learner", "baseline", "reference", "quantity")}
    text = statistic.template.format(**words, cost=check.get("cost"), budget=f"{evidence.budget:,}")
    return {
        "statistic": check["statistic"],
        "text": text,
        "unit": statistic.unit,
        "condition": CONDITIONS[name][1].format(limit),
        **found._asdict(),
        "outcome": result,
        "details": _details(check, evidence),
        "analysis": None if result == HOLDS else ANALYSES[check["statistic"]](evidence, check),
    }


def _details(check: dict[str, Any], evidence: Evidence) -> dict[str, Any]:
    """Return where on the cost axis the learner leads and the area between the curves, where that makes sense."""
    if check["statistic"] != "equal_cost_difference":
        return {}
    weights, points = np.full(evidence.realizations, 1 / evidence.realizations), check["points"]
    mine, other = (evidence.curve(check[who], weights) for who in ("learner", "baseline"))
    return {
        "common_costs": [float(max(mine.cost[0], other.cost[0])), float(min(mine.cost[-1], other.cost[-1]))],
        "share_leading": share_leading(mine, other, points),
        "leading_ranges": leading_ranges(mine, other, points),
        "area": area_between(mine, other, points),
    }


def _explain(checks: list[dict[str, Any]]) -> str | None:
    """Return the analysis of the check that holds least; the others have theirs beside them."""
    open_checks = [check for check in checks if check["outcome"] != HOLDS]
    if not open_checks:
        return None
    return str(min(open_checks, key=lambda check: SCORES[check["outcome"]])["analysis"])
