"""Making the ledger: judged per training seed, spread over seeds, written as JSON and Markdown."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from cams.files import write_text
from experiments.claims.ledger import judge
from experiments.claims.page import page, with_summary
from experiments.claims.rules import HOLDS, NOT_MEASURED
from experiments.records.store import read_facts
from experiments.runner.jobs import file_digest


def make_ledger(config: dict[str, Any], results: Path, seed: int) -> dict[str, Any]:
    """Return the whole ledger: verdicts of the shipped seed, and their spread over training seeds."""
    claims = judge(config, results, seed)
    by_seed = {seed: claims}
    for other in config["training_seeds"]:
        folder = results / "seeds" / f"seed{other}"
        if (folder / "records").exists():
            by_seed[other] = judge(config, folder, other)
    return {
        "summary": dict(Counter(claim["verdict"] for claim in claims)),
        "claims": claims,
        "stale": stale_records(results, seed),
        "training_seeds": sorted(by_seed) if len(by_seed) > 1 else [],
        "robustness": spread_over_seeds(by_seed) if len(by_seed) > 1 else [],
    }


def stale_records(results: Path, seed: int) -> list[str]:
    """Return the records made from another bundle than the one that lies here now."""
    stale = []
    for path in sorted((results / "records").glob(f"*/*/seed{seed}.parquet")):
        bundle, facts = results / "bundles" / f"{path.parent.name}.npz", read_facts(path)
        if facts and bundle.exists() and facts["bundle"].get("digest") != file_digest(bundle):
            stale.append(f"{path.parent.parent.name} {path.parent.name}")
    return stale


def spread_over_seeds(by_seed: dict[int, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return for each claim and data set measured with several seeds: verdicts, and the range of each statistic."""
    found: dict[tuple[int, str], dict[int, dict[str, Any]]] = {}
    for seed, claims in sorted(by_seed.items()):
        for claim in claims:
            for entry in claim["datasets"]:
                if entry["verdict"] != NOT_MEASURED:
                    found.setdefault((claim["id"], entry["dataset"]), {})[seed] = entry
    return [
        {
            "id": claim,
            "dataset": dataset,
            "verdicts": {str(seed): entry["verdict"] for seed, entry in entries.items()},
            "spread": _spread([entry["checks"] for entry in entries.values()]),
        }
        for (claim, dataset), entries in sorted(found.items())
        if len(entries) > 1
    ]


def _spread(checks_by_seed: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    rows = []
    for same in zip(*checks_by_seed, strict=True):
        values = [check["value"] for check in same]
        rows.append(
            {
                "text": same[0]["text"],
                "condition": same[0]["condition"],
                "unit": same[0]["unit"],
                "values": values,
                "least": min(values),
                "most": max(values),
                "holds": sum(check["outcome"] == HOLDS for check in same),
                "seeds": len(same),
            }
        )
    return rows


def write_ledger(ledger: dict[str, Any], results: Path) -> list[Path]:
    texts = {"claims.json": json.dumps(_finite(ledger), indent=1) + "\n", "claims.md": page(ledger)}
    for name, text in texts.items():
        write_text(results / name, text)
    return [results / name for name in texts]


def update_readme(ledger: dict[str, Any], readme: Path) -> None:
    """Keep the sentence in the README that says how many claims hold."""
    text = readme.read_text()
    updated = with_summary(text, ledger["summary"])
    if updated != text:
        write_text(readme, updated)


def _finite(value: Any) -> Any:
    """JSON has no infinity: a loss never reached is written "never", what cannot be computed null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return None if value != value else "never" if value in (float("inf"), float("-inf")) else round(value, 6)
    return value
