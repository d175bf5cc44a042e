"""The ledger on records made up so that every answer is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import cams
from data_prep.pipeline.shell import CONF
from experiments.claims.evidence import Estimate
from experiments.claims.judging import judge
from experiments.claims.ledger import is_current, made_from, make_ledger, update_documents, write_ledger
from experiments.claims.page import with_first_ledger, with_summary
from experiments.claims.rules import CONDITIONS, condition_in_words, condition_of, joint_verdict, outcome, verdict
from experiments.claims.statistics import STATISTICS
from experiments.records.store import Origin, record_path, write_record
from experiments.runner.configuration import compose_run, experiment_names
from experiments.runner.jobs import ensure_record
from experiments.runner.places import Places
from experiments.runner.resolve import make_plan
from tests.experiments.claims.made_up import evidence_of, plan, table

THRESHOLDS = {"reproduced": 1.0, "partly": 0.5}
INTERVAL = {"level": 0.9, "resamples": 50, "seed": 0}


def test_documents_are_rewritten_only_where_their_verdicts_change(tmp_path: Path) -> None:
    write(tmp_path)
    ledger = make_ledger(config(), tmp_path, 0, [])
    first = {"claims": [{"id": 1, "verdict": "reproduced", "datasets": {"drift": "reproduced"}}]}
    (tmp_path / "docs").mkdir()
    readme, protocol = tmp_path / "README.md", tmp_path / "docs" / "protocol.md"
    readme.write_text("é <!-- claims --><!-- /claims -->", encoding="utf-8")
    protocol.write_text("é <!-- both ledgers --><!-- /both ledgers -->", encoding="utf-8")
    update_documents(ledger, first, tmp_path)
    assert readme.read_text(encoding="utf-8") == "é <!-- claims -->**1 partly** of 1 claims.<!-- /claims -->"
    assert "| 1 | t | reproduced | **partly** |" in protocol.read_text(encoding="utf-8")
    written = [path.stat().st_ino for path in (readme, protocol)]
    update_documents(ledger, first, tmp_path)
    assert [path.stat().st_ino for path in (readme, protocol)] == written


@pytest.mark.parametrize(
    ("check", "interval", "expected"),
    [
        ({"below": 0}, (-2, -3, -1), "holds"),
        ({"below": 0}, (-2, -3, 1), "leans"),
        ({"below": 0}, (0.5, -3, 1), "fails"),
        ({"below": 1}, (float("inf"), 0.5, float("inf")), "fails"),
        ({"above": 0.7}, (0.8, 0.71, 0.9), "holds"),
        ({"not_below": 0}, (-0.1, -1, 0.5), "holds"),
        ({"not_below": 0}, (-2, -3, -1), "fails"),
        ({"within": [-1, 1]}, (0, -2, 0.5), "leans"),
        ({"covers": 0}, (0.2, -1, 1), "holds"),
        ({"share_above": 0.9}, (0.5, 0, 1), "leans"),
        ({"below": 0}, (float("nan"),) * 3, "fails"),
    ],
)
def test_outcomes(check: dict, interval: tuple[float, float, float], expected: str) -> None:
    assert outcome(Estimate(*interval), {"statistic": "any", **check}) == expected


def test_verdicts_add_up() -> None:
    assert verdict(["holds", "holds"], THRESHOLDS) == "reproduced"
    assert verdict(["holds", "leans"], THRESHOLDS) == "partly"
    assert verdict(["holds", "fails", "fails"], THRESHOLDS) == "not reproduced"
    assert joint_verdict(["reproduced", "not measured"], THRESHOLDS) == "reproduced"
    assert joint_verdict(["not measured"], THRESHOLDS) == "not measured"


def test_a_check_has_exactly_one_condition() -> None:
    with pytest.raises(cams.InputError, match="expected one"):
        condition_of({"statistic": "label_ratio", "below": 1, "above": 0})


def test_the_shipped_claims_name_what_exists() -> None:
    config = shipped()
    assert [claim["id"] for claim in config["claims"]] == list(range(1, 13))
    for claim in config["claims"] + config["own"]["claims"]:
        for check in claim["checks"] + claim.get("beside", []):
            assert check["statistic"] in STATISTICS
            assert check.get("experiment", claim["experiment"]) in experiment_names()
        assert all(condition_of(check)[0] in CONDITIONS for check in claim["checks"])
        assert not any(set(CONDITIONS) & set(check) for check in claim.get("beside", []))


def shipped() -> dict:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return OmegaConf.to_container(compose("claims"), resolve=True)


def test_own_claims_speak_of_learners_that_their_experiments_replay() -> None:
    for claim in shipped()["own"]["claims"]:
        plan = make_plan(compose_run([f"experiment={claim['experiment']}"]), "vertebral")
        labels = {learner.label for learner in plan.learners}
        for check in claim["checks"]:
            named = [check["learner"], check.get("reference"), *np.atleast_1d(check.get("baseline"))]
            assert {name for name in named if name is not None} <= labels


def write(results: Path, seed_folder: str = "", experiment: str = "main") -> None:
    seed = int(seed_folder[-1:] or 0)
    path = record_path(results / seed_folder, experiment, "drift", seed)
    write_record(path, table(), Origin(plan(experiment, seed=seed).as_dict(), None, ""), {})


def config() -> dict:
    checks = [{"statistic": "equal_cost_difference", "learner": "cams", "baseline": ["rs", "mp"], "below": 0}]
    claim = {
        "id": 1,
        "title": "t",
        "statement": "s",
        "experiment": "main",
        "datasets": ["drift", "hiv"],
        "paper": {},
        "checks": checks,
    }
    return {
        "claims": [claim],
        "verdict": THRESHOLDS,
        "interval": INTERVAL,
        "equal_cost_points": 11,
        "training_seeds": {"drift": [1]},
        "titles": {},
        "n_jobs": 1,
    }


def test_a_claim_is_judged_from_its_record_and_explained_where_it_fails(tmp_path: Path) -> None:
    write(tmp_path)
    (claim,) = judge(config(), tmp_path, 0)
    drift, hiv = claim["datasets"]
    assert [check["outcome"] for check in drift["checks"]] == ["holds", "fails"]
    assert (drift["verdict"], hiv["verdict"], claim["verdict"]) == ("partly", "not measured", "partly")
    # The curves coincide up to 10 labels: the sentence carries what was measured, not a reason made up.
    assert "MP" in drift["analysis"]
    assert "20.5 errors with 10 labels" in drift["analysis"]


def test_a_check_may_read_another_experiment(tmp_path: Path) -> None:
    write(tmp_path)
    rules = config()
    rules["claims"][0]["datasets"] = ["drift", "hiv", "nowhere"]
    (claim,) = judge(rules, tmp_path, 0)
    assert claim["measured"] == 1
    assert claim["datasets"][2]["title"] == "nowhere"
    rules["claims"][0]["checks"][0]["experiment"] = "experts"
    (claim,) = judge(rules, tmp_path, 0)
    assert (claim["verdict"], claim["measured"]) == ("not measured", 0)
    write(tmp_path, experiment="experts")
    assert judge(rules, tmp_path, 0)[0]["verdict"] == "partly"


def test_a_record_too_short_for_a_fit_leaves_the_claim_unmeasured(tmp_path: Path) -> None:
    run = compose_run(["experiment=theory_stochastic", "scale=smoke"])
    ensure_record(make_plan(run, "synthetic"), Places(tmp_path, tmp_path), 1, lambda message: None)
    (entry,) = [
        e for claim in judge(shipped(), tmp_path, 0) for e in claim["datasets"] if e["dataset"] == "theory_stochastic"
    ]
    assert entry["verdict"] == "not measured"
    assert {check["statistic"] for check in entry["checks"]} == {"largest_ratio_to_bound"}


def test_the_ledger_is_written_and_shows_the_spread_over_seeds(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, "seeds/seed1")
    ledger = make_ledger(config(), tmp_path, 0, [])
    write_ledger(ledger, tmp_path)
    stored = json.loads((tmp_path / "claims.json").read_text())
    assert stored["training_seeds"] == [0, 1]
    (entry,) = stored["robustness"]
    assert (entry["id"], entry["dataset"], entry["title"]) == (1, "drift", "DRIFT")
    assert entry["verdicts"] == {"0": "partly", "1": "partly"}
    assert [(row["least"], row["most"], row["holds"]) for row in entry["spread"]] == [(-10, -10, 2), (0, 0, 0)]
    page = (tmp_path / "claims.md").read_text()
    assert "**1 partly** of 1 claims." in page
    # A table is one block, without empty lines between its rows.
    assert (
        "| statistic | ours (90 % interval) | wanted | |\n|---|---|---|---|\n"
        "| CAMS minus RS, mean errors at equal cost (labels 5 to 10: leads on 100 %, area -50) "
        "| -10.00 (-10.00 to -10.00) | below 0 | holds |\n| CAMS minus MP"
    ) in page
    assert page.endswith("|\n")
    assert "| 1 | DRIFT | partly | partly |" in page
    assert "other training seeds" in page


def test_one_seed_shows_no_spread(tmp_path: Path) -> None:
    write(tmp_path)
    ledger = make_ledger(config(), tmp_path, 0, [])
    assert (ledger["training_seeds"], ledger["robustness"]) == ([], [])


def test_a_learner_that_starts_behind_is_explained_by_who_advises_it() -> None:
    rows = table()
    rows.loc[(rows["budget"] == 5) & (rows["kind"] == "learner"), ["budget", "queries"]] = 0
    rows.loc[(rows["series"] == "cams") & (rows["budget"] == 0), "loss"] += 20
    sentence = STATISTICS["equal_cost_difference"].analysis(
        evidence_of(rows), {"learner": "cams", "baseline": "mp", "points": 11}
    )
    assert "With no label CAMS makes 50.5 errors and MP 30.5" in sentence
    assert "1 malicious or random policies (60.5 errors each on average), 1 others (22.5) and 2 classifiers" in sentence


def test_a_condition_is_written_in_the_unit_of_its_value() -> None:
    assert condition_in_words({"statistic": "s", "above": 0.8}, "share") == "above 80 %"
    assert condition_in_words({"statistic": "s", "within": [-0.05, 0.05]}, "share") == "within -5 % to 5 %"
    assert condition_in_words({"statistic": "s", "below": 1}, "ratio") == "below 1"


def test_what_is_beside_the_verdict_counts_nothing(tmp_path: Path) -> None:
    write(tmp_path)
    rules = config()
    rules["claims"][0]["beside"] = [{"statistic": "label_ratio", "learner": "cams", "baseline": "rs"}]
    drift = judge(rules, tmp_path, 0)[0]["datasets"][0]
    assert drift["verdict"] == "partly"
    assert (drift["beside"][0]["value"], drift["beside"][0]["outcome"]) == (0.5, None)


def test_own_claims_count_every_check_of_every_seed(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, "seeds/seed1")
    write(tmp_path, "seeds/seed2")
    rules = config()
    rules["own"] = {"judged_on": {"drift": [1, 2, 3], "hiv": [1]}, "claims": rules["claims"]}
    ledger = make_ledger(rules, tmp_path, 0, [])
    drift, hiv = ledger["own"][0]["datasets"]
    assert (drift["dataset"], drift["title"], hiv["title"]) == ("drift", "DRIFT", "HIV")
    assert (drift["seeds"], drift["planned_seeds"]) == ([1, 2], [1, 2, 3])
    # Ahead of RS and not of MP, with both seeds.
    assert [(row["holds"], row["seeds"]) for row in drift["spread"]] == [(2, 2), (0, 2)]
    assert (drift["verdict"], hiv["verdict"]) == ("partly", "not measured")
    write_ledger(ledger, tmp_path)
    page = (tmp_path / "claims.md").read_text()
    assert "Training seeds 1, 2 (planned: 1, 2, 3)" in page
    assert "A claim that does not hold is a result.\n\n**1 partly** of 1 claims." in page


def test_documents_quote_the_ledger_between_their_marks(tmp_path: Path) -> None:
    write(tmp_path)
    ledger = make_ledger(config(), tmp_path, 0, [])
    first = {"claims": [{"id": 1, "verdict": "reproduced", "datasets": {"drift": "reproduced", "gone": "partly"}}]}
    page = "a <!-- claims -->x<!-- /claims --> b <!-- own claims --><!-- /own claims -->"
    quoted = "a <!-- claims -->**1 partly** of 1 claims.<!-- /claims --> b "
    assert with_summary(page, ledger, first) == f"{quoted}<!-- own claims --><!-- /own claims -->"
    ledger["own"] = [{"verdict": "reproduced"}, {"verdict": "not reproduced"}]
    assert with_summary(page, ledger, first) == (
        f"{quoted}<!-- own claims -->**1 holds, 1 does not hold** of 2 claims.<!-- /own claims -->"
    )
    assert with_first_ledger("<!-- both ledgers -->\n<!-- /both ledgers -->", ledger, first) == (
        "<!-- both ledgers -->\n\n"
        "| | claim | first ledger | now | first, by data set | now, by data set |\n|---|---|---|---|---|---|\n"
        "| 1 | t | reproduced | **partly** | DRIFT: reproduced, gone: partly | DRIFT: partly, HIV: not measured |"
        "\n\n<!-- /both ledgers -->"
    )
    # A claim that somebody added later.
    first["claims"][0]["id"] = 2
    later = with_first_ledger("<!-- both ledgers --><!-- /both ledgers -->", ledger, first)
    assert "| 1 | t | not in it | **partly** |  | DRIFT: partly, HIV: not measured |" in later


def test_a_ledger_is_current_until_something_it_is_made_from_changes(tmp_path: Path) -> None:
    write(tmp_path)
    rules = config()
    assert not is_current(tmp_path, made_from(rules, tmp_path, []))
    write_ledger(make_ledger(rules, tmp_path, 0, []), tmp_path)
    assert is_current(tmp_path, made_from(rules, tmp_path, []))
    assert not is_current(tmp_path, made_from(rules, tmp_path, ["the record of main on drift is stale"]))
    for other in ({"equal_cost_points": 12}, {"seed": 7}, {"training_seeds": {"drift": [9]}}, {"titles": {"x": "X"}}):
        assert not is_current(tmp_path, made_from(rules | other, tmp_path, []))
    assert is_current(tmp_path, made_from(rules | {"n_jobs": 2, "paths": {"results": "."}}, tmp_path, []))
    whole = (tmp_path / "claims.json").read_text()
    for damaged in ("{", "[]", "{}"):
        (tmp_path / "claims.json").write_text(damaged)
        assert not is_current(tmp_path, made_from(rules, tmp_path, []))
    (tmp_path / "claims.json").write_text(whole.replace('"partly"', '"reproduced"'))
    assert not is_current(tmp_path, made_from(rules, tmp_path, []))
    (tmp_path / "claims.json").write_text(whole)
    page = (tmp_path / "claims.md").read_text()
    for damaged in ("", page.replace("partly", "reproduced")):
        (tmp_path / "claims.md").write_text(damaged)
        assert not is_current(tmp_path, made_from(rules, tmp_path, []))
    (tmp_path / "claims.md").write_text(page)
    assert is_current(tmp_path, made_from(rules, tmp_path, []))
    write(tmp_path, "seeds/seed1")
    assert not is_current(tmp_path, made_from(rules, tmp_path, []))
