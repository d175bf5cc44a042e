"""The whole ledger: the paper's claims on the shipped seed, their spread over training seeds, and claims of our own."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from cams.errors import InputError
from cams.files import visible, write_json, write_text
from data_prep.pipeline.catalogue import catalogue
from data_prep.pipeline.code import code_digest
from experiments.claims.judging import join_datasets, judge
from experiments.claims.page import TEMPLATE, render_page, with_first_ledger, with_summary
from experiments.claims.rules import HOLDS, NOT_MEASURED, verdict

# Where a ledger is written and how fast, and what only `experiments.claims.training_seeds` reads.
NEUTRAL = ("paths", "n_jobs", "seeds", "datasets", "baselines")
Judged = dict[int, list[dict[str, Any]]]


def make_ledger(config: dict[str, Any], results: Path, seed: int, notes: list[str]) -> dict[str, Any]:
    """Return verdicts of the shipped seed, their spread over training seeds, and the verdicts on our own claims.

    `notes` say which records are not what they should be.
    """
    config = _with_titles(config)
    claims = judge(config, results, seed)
    others = sorted({other for seeds in config["training_seeds"].values() for other in seeds})
    by_seed = {seed: claims} | _judge_seeds(config, others, results)
    own = judge_own(config, results)
    return {
        "summary": dict(Counter(claim["verdict"] for claim in claims)),
        "claims": claims,
        "notes": notes,
        "made_from": made_from(config, results, notes),
        "training_seeds": sorted(by_seed) if len(by_seed) > 1 else [],
        "robustness": spread_over_seeds(by_seed),
        "own": own,
        "own_summary": dict(Counter(claim["verdict"] for claim in own)),
    }


def made_from(config: dict[str, Any], results: Path, notes: list[str]) -> str:
    """Return a hash of all that a ledger depends on: settings, records, figures to link to, code and words."""
    rules = {key: value for key, value in _with_titles(config).items() if key not in NEUTRAL}
    digest = hashlib.sha256(json.dumps([rules, notes], sort_keys=True).encode())
    digest.update(code_digest("experiments.claims.ledger").encode())
    digest.update(TEMPLATE.read_bytes())
    records = visible(results, "records/*/*/*.parquet") + visible(results, "seeds/*/records/*/*/*.parquet")
    for path in filter(Path.is_file, records):
        digest.update(str(path.relative_to(results)).encode() + path.read_bytes())
    for path in visible(results, "figures/*/*.png"):
        digest.update(str(path.relative_to(results)).encode())
    return digest.hexdigest()


def _with_titles(config: dict[str, Any]) -> dict[str, Any]:
    """Add the titles of the data sets, which conf/dataset has."""
    return config | {"titles": config["titles"] | {name: entry.title for name, entry in catalogue().items()}}


def is_current(results: Path, wanted: str) -> bool:
    """Tell whether the ledger on disk was made from what is here now."""
    try:
        ledger, page = stored_ledger(results), (results / "claims.md").read_text(encoding="utf-8")
    except (InputError, OSError, UnicodeDecodeError):
        return False
    return ledger.get("made_from") == _seal(ledger | {"made_from": wanted}, page)


def _seal(ledger: dict[str, Any], page: str) -> str:
    """Return a hash of what a ledger was made from, of its own content and of its page: neither may be changed."""
    # As JSON gives it back: its keys are text.
    content = json.dumps(json.loads(json.dumps(ledger)), sort_keys=True)
    return hashlib.sha256(f"{content}\n{page}".encode()).hexdigest()


def stored_ledger(results: Path) -> dict[str, Any]:
    """Return the ledger on disk as it was written; one that is missing or damaged is refused."""
    path = results / "claims.json"
    try:
        ledger = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        ledger = None
    if not isinstance(ledger, dict):
        raise InputError(f"{path} is missing or damaged; `python -m experiments.claims` makes it anew")
    return ledger


def _judge_seeds(config: dict[str, Any], seeds: list[int], results: Path) -> Judged:
    """Judge the same claims on zoos trained anew, those that are here, several at a time."""
    folders = {seed: results / "seeds" / f"seed{seed}" for seed in seeds}
    here = {seed: folder for seed, folder in folders.items() if (folder / "records").exists()}
    judged = Parallel(n_jobs=config.get("n_jobs") or -1)(delayed(judge)(config, here[seed], seed) for seed in here)
    return dict(zip(here, judged, strict=True))


def spread_over_seeds(by_seed: Judged) -> list[dict[str, Any]]:
    """Return for each claim and data set measured with several seeds: verdicts, and the range of each statistic."""
    return [
        {
            "id": claim,
            "dataset": dataset,
            "title": next(iter(entries.values()))["title"],
            "verdicts": {str(seed): entry["verdict"] for seed, entry in entries.items()},
            "spread": _spread([entry["checks"] for entry in entries.values()]),
        }
        for (claim, dataset), entries in sorted(_by_claim_and_dataset(by_seed).items())
        if len(entries) > 1
    ]


def _by_claim_and_dataset(by_seed: Judged) -> dict[tuple[int, str], dict[int, dict[str, Any]]]:
    found: dict[tuple[int, str], dict[int, dict[str, Any]]] = {}
    for seed, claims in sorted(by_seed.items()):
        for claim in claims:
            for entry in claim["datasets"]:
                if entry["verdict"] != NOT_MEASURED:
                    found.setdefault((claim["id"], entry["dataset"]), {})[seed] = entry
    return found


def _spread(checks_by_seed: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    rows = []
    for same in zip(*checks_by_seed, strict=True):
        values = [check["value"] for check in same]
        rows.append(
            {key: same[0][key] for key in ("text", "condition", "unit")}
            | {"values": values, "least": min(values), "most": max(values)}
            | {"holds": sum(check["outcome"] == HOLDS for check in same), "seeds": len(same)}
        )
    return rows


def judge_own(config: dict[str, Any], results: Path) -> list[dict[str, Any]]:
    """Return our own claims, each data set judged over all its seeds together: every check of every seed counts."""
    own = config.get("own")
    if not own:
        return []
    shared = {key: config[key] for key in ("verdict", "interval", "equal_cost_points", "titles", "n_jobs")}
    seeds = sorted({seed for planned in own["judged_on"].values() for seed in planned})
    measured = _by_claim_and_dataset(_judge_seeds(shared | own, seeds, results))
    return [_pool(claim, own["judged_on"], measured, shared) for claim in own["claims"]]


def _pool(
    claim: dict[str, Any],
    judged_on: dict[str, list[int]],
    measured: dict[tuple[int, str], dict[int, dict[str, Any]]],
    shared: dict[str, Any],
) -> dict[str, Any]:
    entries = []
    for dataset in claim["datasets"]:
        by_seed = measured.get((claim["id"], dataset), {})
        by_seed = {seed: entry for seed, entry in by_seed.items() if seed in judged_on[dataset]}
        outcomes = [check["outcome"] for entry in by_seed.values() for check in entry["checks"]]
        entries.append(
            {
                "dataset": dataset,
                "title": shared["titles"].get(dataset, dataset),
                "verdict": verdict(outcomes, shared["verdict"]),
                "seeds": sorted(by_seed),
                "planned_seeds": judged_on[dataset],
                "spread": _spread([entry["checks"] for entry in by_seed.values()]),
                "analysis": next((f"Seed {s}: {e['analysis']}" for s, e in by_seed.items() if e["analysis"]), None),
            }
        )
    facts = {key: claim[key] for key in ("id", "title", "statement", "experiment")}
    return facts | join_datasets(entries, shared["verdict"])


def write_ledger(ledger: dict[str, Any], folder: Path, results: Path | None = None) -> list[Path]:
    """Write the ledger for programs and for readers; the figures that it links to are under `results` or beside it."""
    page, content = render_page(ledger, Path(os.path.relpath(results or folder, folder))), _finite(ledger)
    write_json(folder / "claims.json", content | {"made_from": _seal(content, page)})
    write_text(folder / "claims.md", page)
    return [folder / "claims.json", folder / "claims.md"]


def update_documents(ledger: dict[str, Any], first: dict[str, Any], root: Path) -> None:
    """Keep what the README and the protocol say of the verdicts; a document that says the same stays untouched."""
    for name, updated in (("README.md", with_summary), ("docs/protocol.md", with_first_ledger)):
        text = (root / name).read_text(encoding="utf-8")
        if (new := updated(text, ledger, first)) != text:
            write_text(root / name, new)


def _finite(value: Any) -> Any:
    """JSON has no infinity: a loss never reached is written "never", what cannot be computed null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return None if value != value else "never" if value in (float("inf"), float("-inf")) else round(value, 6)
    return value
