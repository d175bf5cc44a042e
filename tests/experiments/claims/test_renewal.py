"""The ledger on disk made anew: what is said, what is written, and when nothing is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from joblib import Parallel

import cams
from experiments.claims import ledger, renewal
from experiments.claims.renewal import renew_ledger
from experiments.records.store import Origin, write_record
from tests.experiments.claims.made_up import plan, table

CHECK = {"statistic": "label_ratio", "learner": "cams", "baseline": "rs"}
CLAIM = {"id": 1, "title": "t", "statement": "s", "experiment": "main", "datasets": ["drift"]}
NOTE = "the record of main on drift is stale"


def write(folder: Path, seed: int) -> None:
    path = folder / f"records/main/drift/seed{seed}.parquet"
    write_record(path, table(), Origin(plan(seed=seed).as_dict(), None, ""), {})


def rules(results: Path) -> dict[str, Any]:
    return {
        "paths": {"results": str(results)},
        "seed": 3,
        "training_seeds": {},
        "titles": {},
        "n_jobs": 1,
        "verdict": {"reproduced": 1.0, "partly": 0.5},
        "interval": {"level": 0.9, "resamples": 5, "seed": 0},
        "equal_cost_points": 11,
        "claims": [CLAIM | {"checks": [CHECK | {"below": 0.6}]}],
    }


@pytest.fixture(autouse=True)
def _one_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """The records are made up, so no plan would make them: what is noted of them stands in for that."""

    def notes(results: Path, seed: int) -> list[str]:
        assert (results / "records").exists()
        return [NOTE] if seed == 3 else []

    monkeypatch.setattr(renewal, "notes_on_records", notes)


def test_a_ledger_is_made_once_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, 3)
    renew_ledger(rules(tmp_path), tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        f"claims: {NOTE}",
        f"claims: wrote {tmp_path / 'claims.json'}",
        f"claims: wrote {tmp_path / 'claims.md'}",
        "claims: **1 reproduced** of 1 claims.",
    ]
    ledger = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    assert (ledger["notes"], ledger["claims"][0]["verdict"]) == ([NOTE], "reproduced")
    assert f"- {NOTE}\n" in (tmp_path / "claims.md").read_text(encoding="utf-8")
    renew_ledger(rules(tmp_path), tmp_path)
    up_to_date = f"claims: up to date ({tmp_path / 'claims.md'})"
    assert capsys.readouterr().out.splitlines() == [f"claims: {NOTE}", up_to_date]
    # A run that was killed while it wrote made no record.
    (tmp_path / "records/main/drift/.seed4.0123456789ab.part.parquet").write_bytes(b"PAR1")
    renew_ledger(rules(tmp_path), tmp_path)
    assert capsys.readouterr().out.splitlines() == [f"claims: {NOTE}", up_to_date]
    write(tmp_path, 4)
    renew_ledger(rules(tmp_path), tmp_path)
    assert "claims: wrote" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "old", "new"), [("json", "reproduced", "partly"), ("md", "1 reproduced", "2 reproduced")]
)
def test_a_verdict_that_somebody_wrote_is_judged_anew(tmp_path: Path, name: str, old: str, new: str) -> None:
    write(tmp_path, 3)
    renew_ledger(rules(tmp_path), tmp_path)
    judged = {ending: (tmp_path / f"claims.{ending}").read_text(encoding="utf-8") for ending in ("json", "md")}
    (tmp_path / f"claims.{name}").write_text(judged[name].replace(old, new), encoding="utf-8")
    renew_ledger(rules(tmp_path), tmp_path)
    assert {ending: (tmp_path / f"claims.{ending}").read_text(encoding="utf-8") for ending in judged} == judged


@pytest.mark.usefixtures("plain_ascii")
def test_a_page_is_read_in_utf_8_wherever_that_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, 3)
    accented = rules(tmp_path) | {"claims": [CLAIM | {"title": "à la carte", "checks": [CHECK | {"below": 0.6}]}]}
    for _ in range(2):
        renew_ledger(accented, tmp_path)
    assert capsys.readouterr().out.splitlines()[-1] == f"claims: up to date ({tmp_path / 'claims.md'})"


@pytest.mark.parametrize(("asked", "jobs"), [(3, 3), (0, -1)])
def test_as_many_seeds_are_judged_at_once_as_there_may_be_jobs(
    asked: int, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    monkeypatch.setattr(ledger, "Parallel", lambda n_jobs: started.append(n_jobs) or Parallel(1))
    write(tmp_path, 3)
    write(tmp_path / "seeds/seed4", 4)
    renew_ledger(rules(tmp_path) | {"n_jobs": asked, "training_seeds": {"drift": [4]}}, tmp_path)
    assert started == [jobs]


def test_own_claims_have_a_line_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, 3)
    write(tmp_path / "seeds/seed5", 5)
    own = {"judged_on": {"drift": [5]}, "claims": [CLAIM | {"checks": [CHECK | {"above": 0.6}]}]}
    renew_ledger(rules(tmp_path) | {"own": own}, tmp_path)
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "claims: **1 reproduced** of 1 claims.",
        "claims beyond the paper: **1 does not hold** of 1 claims.",
    ]


def test_a_folder_called_like_a_record_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, 3)
    (tmp_path / "records/main/drift/seed4.parquet").mkdir()
    renew_ledger(rules(tmp_path), tmp_path)
    assert "claims: **1 reproduced** of 1 claims." in capsys.readouterr().out


@pytest.mark.usefixtures("plain_ascii")
@pytest.mark.parametrize(("folder", "variant"), [("results", ""), ("results", "seed=3"), ("elsewhere", "")])
def test_documents_quote_the_shipped_results_only(
    folder: str, variant: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(renewal, "CONF", tmp_path / "conf")
    for name, text in (
        ("conf/first_ledger.yaml", "claims: [{id: 1, verdict: partly, datasets: {drift: partly}}]"),
        ("README.md", "Rényi <!-- claims --><!-- /claims -->"),
        ("docs/protocol.md", "<!-- both ledgers --><!-- /both ledgers -->"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    write(Path(folder), 3)
    renew_ledger(rules(Path(folder)), Path(folder), variant)
    quoted = folder == "results" and not variant
    assert Path(folder, "claims.json").exists() == (not variant)
    assert Path(folder, "variants", variant, "claims.json").exists() == bool(variant)
    assert ("**1 reproduced** of 1 claims." in (tmp_path / "README.md").read_text(encoding="utf-8")) == quoted
    row = "| 1 | t | partly | **reproduced** | DRIFT: partly | DRIFT: reproduced |"
    assert (row in (tmp_path / "docs/protocol.md").read_text(encoding="utf-8")) == quoted


@pytest.mark.parametrize(("variant", "link"), [("", "figures"), ("interval.level=0.95", "../../figures")])
def test_the_page_links_to_figures_from_where_it_stands(variant: str, link: str, tmp_path: Path) -> None:
    write(tmp_path, 3)
    figure = tmp_path / "figures/main/drift.png"
    figure.parent.mkdir(parents=True)
    figure.touch()
    renew_ledger(rules(tmp_path), tmp_path, variant)
    page = tmp_path / ("variants" if variant else "") / variant / "claims.md"
    assert f"([figure]({link}/main/drift.png))" in page.read_text(encoding="utf-8")
    assert (page.parent / link / "main/drift.png").exists()


def test_rules_are_checked_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(cams.InputError, match="the configuration has no key 'clams'; did you mean 'claims'"):
        renew_ledger(rules(tmp_path) | {"clams": []}, tmp_path)
