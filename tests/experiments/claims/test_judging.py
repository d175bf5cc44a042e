"""All that the ledger says of a claim on a data set, and what makes a ledger out of date."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

from experiments.claims import judging
from experiments.claims.evidence import Estimate
from experiments.claims.judging import judge
from experiments.claims.ledger import made_from, make_ledger
from experiments.claims.page import render_page
from experiments.claims.rules import joint_verdict
from experiments.records.store import Origin, write_record
from tests.experiments.claims.made_up import plan, table

THRESHOLDS = {"reproduced": 1.0, "partly": 0.5}


def write(results: Path, seed: int = 0, experiment: str = "main", dataset: str = "drift") -> None:
    path = results / "records" / experiment / dataset / f"seed{seed}.parquet"
    write_record(path, table(), Origin(plan(experiment, dataset, seed).as_dict(), None, ""), {})


def rules(*checks: dict[str, Any], **changes: Any) -> dict[str, Any]:
    claim = {"id": 1, "title": "t", "statement": "s", "experiment": "main", "datasets": ["drift"]}
    return {
        "claims": [claim | {"checks": list(checks)} | changes],
        "verdict": THRESHOLDS,
        "interval": {"level": 0.9, "resamples": 5, "seed": 0},
        "equal_cost_points": 11,
        "training_seeds": {},
        "titles": {"drift": "DRIFT"},
        "n_jobs": 1,
    }


def judged(config: dict[str, Any], results: Path, dataset: int = 0) -> dict[str, Any]:
    return judge(config, results, 0)[0]["datasets"][dataset]


RATIO = {"statistic": "label_ratio", "learner": "cams", "baseline": "rs"}
FINAL = {"statistic": "final_difference", "learner": "cams", "reference": "best_policy"}


def test_an_entry_in_full(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "figures/main").mkdir(parents=True)
    (tmp_path / "figures/main/drift.png").touch()
    entry = judged(rules(RATIO | {"below": 0.6}, paper={"drift": "half"}), tmp_path)
    assert entry == {
        "dataset": "drift",
        "title": "DRIFT",
        "paper": "half",
        "verdict": "reproduced",
        "figure": "figures/main/drift.png",
        "checks": [
            {
                "statistic": "label_ratio",
                "text": "labels of CAMS, of those of RS",
                "unit": "share",
                "condition": "below 60 %",
                "value": 0.5,
                "low": 0.5,
                "high": 0.5,
                "outcome": "holds",
                "details": {},
                "analysis": None,
            }
        ],
        "analysis": None,
        "beside": [],
    }


def test_the_parts_of_a_claim_may_have_experiments_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, experiment="theory", dataset="synthetic")
    (tmp_path / "figures/theory").mkdir(parents=True)
    (tmp_path / "figures/theory/synthetic.png").touch()
    config = rules(RATIO | {"below": 0.6}, datasets=["first", "drift"], experiments={"first": "theory"})
    first, drift = judge(config, tmp_path, 0)[0]["datasets"]
    assert (first["dataset"], first["verdict"], first["figure"]) == (
        "first",
        "reproduced",
        "figures/theory/synthetic.png",
    )
    assert (drift["verdict"], drift["figure"]) == ("not measured", None)


def test_a_claim_that_is_measured_in_part_has_no_verdict(tmp_path: Path) -> None:
    write(tmp_path)
    entry = judged(rules(RATIO | {"below": 0.6}, RATIO | {"below": 0.6, "experiment": "other"}), tmp_path)
    assert (entry["verdict"], [check["outcome"] for check in entry["checks"]]) == ("not measured", ["holds"])


def test_what_an_entry_lacks_is_empty(tmp_path: Path) -> None:
    config = rules(RATIO | {"below": 0.6}, datasets=["drift", "nowhere"], paper={"drift": "half"})
    missing = judged(config, tmp_path, 1)
    assert (missing["title"], missing["paper"], missing["figure"]) == ("nowhere", "", None)
    assert (missing["verdict"], missing["checks"], missing["analysis"]) == ("not measured", [], None)
    del config["claims"][0]["paper"]
    assert judged(config, tmp_path)["paper"] == ""


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (RATIO | {"statistic": "label_saving"}, "labels CAMS saves against RS, budget 20"),
        (FINAL, "CAMS minus best policy, errors at full budget"),
        (RATIO | {"statistic": "difference_at_cost", "cost": 10}, "CAMS minus RS, errors at 10 labels"),
        (
            RATIO | {"statistic": "label_ratio_to_come_near_baseline", "margin": 0.125},
            "labels CAMS needs to come within 12.5 % of the final loss of RS, of RS's own",
        ),
        (
            RATIO | {"statistic": "share_within_bands"},
            "cost axis on which CAMS and RS are in each other's bands",
        ),
    ],
)
def test_a_check_says_what_it_compares(check: dict[str, Any], text: str, tmp_path: Path) -> None:
    write(tmp_path)
    assert judged(rules(check | {"above": -100}), tmp_path)["checks"][0]["text"] == text


def test_words_of_a_check_that_names_nothing() -> None:
    nothing = {"learner": "", "baseline": "", "reference": "", "quantity": "", "cost": "None", "margin": "0 %"}
    assert judging._words({"statistic": "any"}) == nothing


def test_some_values_are_judged_as_they_are(tmp_path: Path) -> None:
    write(tmp_path)
    (check,) = judged(rules(RATIO | {"statistic": "share_within_bands", "share_above": 0.5}), tmp_path)["checks"]
    assert (check["value"], check["low"], check["high"], check["outcome"]) == (0.0, None, None, "fails")


def test_a_check_may_speak_of_some_data_sets_only(tmp_path: Path) -> None:
    write(tmp_path)
    elsewhere, here = RATIO | {"datasets": ["hiv"], "below": 0.1}, RATIO | {"datasets": ["drift"], "below": 0.6}
    entry = judged(rules(elsewhere, here, FINAL | {"below": 0}, datasets=["drift", "hiv"]), tmp_path)
    assert [check["condition"] for check in entry["checks"]] == ["below 60 %", "below 0"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_check_that_holds_least_explains(
    order: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels are at 0.5 of those of RS, somewhere from 0 to 1; errors 2 below those of the best policy."""
    write(tmp_path)
    wide = lambda measure, realizations, **_: Estimate(0.5, 0.0, 1.0)  # noqa: E731
    monkeypatch.setattr(judging, "estimate", wide)
    leans, fails = RATIO | {"below": 0.6}, FINAL | {"below": 0.25}
    entry = judged(rules(*((leans, fails)[i] for i in order)), tmp_path)
    assert sorted(check["outcome"] for check in entry["checks"]) == ["fails", "leans"]
    assert entry["analysis"].startswith("CAMS makes 20.5 errors, best policy 22.5")


def test_a_claim_that_holds_on_one_of_two_data_sets_holds_partly() -> None:
    assert joint_verdict(["reproduced", "not reproduced"], THRESHOLDS) == "partly"
    assert joint_verdict(["partly", "not reproduced"], THRESHOLDS) == "not reproduced"


def test_a_ledger_counts_its_verdicts(tmp_path: Path) -> None:
    write(tmp_path)
    config = rules(RATIO | {"below": 0.6})
    config["claims"].append(copy.deepcopy(config["claims"][0]) | {"id": 2, "checks": [RATIO | {"above": 0.6}]})
    config["own"] = {"judged_on": {"drift": [5]}, "claims": config["claims"]}
    write(tmp_path / "seeds/seed5", 5)
    ledger = make_ledger(config, tmp_path, 0, [])
    assert ledger["summary"] == ledger["own_summary"] == {"reproduced": 1, "not reproduced": 1}
    (row,) = ledger["own"][0]["datasets"][0]["spread"]
    assert (row["text"], row["condition"]) == ("labels of CAMS, of those of RS", "below 60 %")
    assert (row["values"], row["least"], row["most"], row["holds"], row["seeds"]) == ([0.5], 0.5, 0.5, 1, 1)
    assert ledger["own"][1]["datasets"][0]["analysis"].startswith("Seed 5: At full budget CAMS")
    # Nothing spreads over a single seed.
    assert (ledger["training_seeds"], ledger["robustness"]) == ([], [])


def test_a_data_set_measured_with_one_seed_of_several_has_no_spread(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, dataset="hiv")
    write(tmp_path / "seeds/seed5", 5)
    config = rules(RATIO | {"below": 0.6}, datasets=["drift", "hiv"]) | {"training_seeds": {"drift": [5], "hiv": [5]}}
    ledger = make_ledger(config, tmp_path, 0, [])
    assert [(entry["dataset"], entry["verdicts"]) for entry in ledger["robustness"]] == [
        ("drift", {"0": "reproduced", "5": "reproduced"})
    ]


def test_own_claims_on_a_data_set_without_a_title_go_by_its_name(tmp_path: Path) -> None:
    own = {"judged_on": {"nowhere": [5]}, "claims": rules(RATIO, datasets=["nowhere"])["claims"]}
    (claim,) = make_ledger(rules(RATIO) | {"own": own}, tmp_path, 0, [])["own"]
    assert (claim["datasets"][0]["title"], claim["verdict"]) == ("nowhere", "not measured")


def test_what_a_ledger_is_made_from(tmp_path: Path) -> None:
    write(tmp_path)
    config = rules(RATIO | {"below": 0.6}) | {"own": {"judged_on": {}, "claims": []}}
    before = made_from(config, tmp_path, [])
    assert made_from(dict(reversed(config.items())), tmp_path, []) == before
    turned = copy.deepcopy(config)
    turned["claims"][0] = dict(reversed(turned["claims"][0].items()))
    assert made_from(turned, tmp_path, []) == before
    assert made_from(config | {"n_jobs": 2}, tmp_path, []) == before
    for key, value in (
        ("claims", []),
        ("own", {"judged_on": {"drift": [1]}, "claims": []}),
        ("verdict", {"reproduced": 0.9, "partly": 0.5}),
        ("interval", config["interval"] | {"seed": 1}),
        ("equal_cost_points", 12),
    ):
        assert made_from(config | {key: value}, tmp_path, []) != before


def test_a_ledger_depends_on_the_names_and_numbers_of_records_and_on_which_figures_there_are(tmp_path: Path) -> None:
    config = rules(RATIO | {"below": 0.6})
    seen = [made_from(config, tmp_path, [])]

    def now() -> str:
        seen.append(made_from(config, tmp_path, []))
        return seen[-1]

    record = tmp_path / "records/main/drift/seed0.parquet"
    for change in (
        lambda: write(tmp_path),
        lambda: record.write_bytes(record.read_bytes() + b"x"),
        lambda: record.rename(record.with_name("seed1.parquet")),
        lambda: (tmp_path / "figures/main").mkdir(parents=True) or (tmp_path / "figures/main/drift.png").touch(),
        lambda: (tmp_path / "figures/main/drift.png").rename(tmp_path / "figures/main/hiv.png"),
    ):
        change()
        assert now() not in seen[:-1]
    # What a figure shows is in the records.
    (tmp_path / "figures/main/hiv.png").write_bytes(b"x")
    assert made_from(config, tmp_path, []) == seen[-1]


def test_a_page_with_a_gap_is_not_written() -> None:
    ledger = {"claims": [], "training_seeds": [], "robustness": [], "own": []}
    with pytest.raises(UndefinedError, match="notes"):
        render_page(ledger)
