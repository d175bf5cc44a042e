"""Misspelt keys and wrong values in the rules of the claims: one sentence with the place, before anything is judged."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import cams
from experiments.claims.shape import check_rules
from tests.fuzzing import JUNK, examples, holder, misspell, places

CONF = Path(__file__).resolve().parents[3] / "conf"


def rules() -> dict[str, Any]:
    return copy.deepcopy(_shipped())


@cache
def _shipped() -> dict[str, Any]:
    shipped = yaml.safe_load((CONF / "claims.yaml").read_text())
    own = yaml.safe_load((CONF / "own_claims.yaml").read_text())
    return {key: value for key, value in shipped.items() if key not in ("defaults", "hydra")} | {"own": own}


def rename(entry: dict[str, Any], old: str, new: str) -> None:
    entry[new] = entry.pop(old)


BAD_RULES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (
        lambda r: r["claims"][0].update(experiment="mian"),
        "no experiment of claim 1, 'mian'; did you mean 'main'?",
    ),
    (
        lambda r: r["claims"][1]["checks"][0].update(experiment="rlc"),
        "no experiment of claim 2, 'rlc'; did you",
    ),
    (
        lambda r: r["claims"][0].update(beside=[{"statistic": "label_ratio", "experiment": "rlc"}]),
        "no experiment of claim 1, 'rlc'; did you mean 'rcl'?",
    ),
    (lambda r: r["claims"][11]["experiments"].update(theory_stochastic="x"), "there is no experiment of claim 12, 'x'"),
    (lambda r: r["own"]["claims"][0].update(experiment="mian"), "'mian'; did you mean 'main'?"),
    (lambda r: rename(r, "verdict", "verdct"), "the configuration has no key 'verdct'; did you mean 'verdict'?"),
    (lambda r: rename(r["claims"][0], "statement", "statment"), "claims[0] has no key 'statment'; did you mean"),
    (lambda r: r["claims"][1].pop("statement"), "claims[1] lacks the key 'statement'"),
    (lambda r: rename(r["own"], "judged_on", "juged_on"), "own has no key 'juged_on'; did you mean 'judged_on'?"),
    (lambda r: r["own"].pop("judged_on"), "own lacks the key 'judged_on'"),
    (lambda r: rename(r["own"]["claims"][0]["checks"][0], "below", "belwo"), "checks[0] has no key 'belwo'; did you"),
    (
        lambda r: r["own"]["claims"][0]["checks"][0].pop("statistic"),
        "own.claims[0].checks[0] lacks the key 'statistic'",
    ),
    (
        lambda r: r["claims"][0].update(beside=[{"statistic": "label_ratio"}, {}]),
        "claims[0].beside[1] lacks the key 'statistic'",
    ),
    (lambda r: r["own"]["claims"][0]["checks"][0].update(below="x"), "checks[0].below is 'x', expected a number"),
    (lambda r: r.update(claims=[]), "claims is [], expected a list of one entry or more"),
    (lambda r: r["own"].update(claims=[]), "own.claims is [], expected a list of one entry or more"),
    (lambda r: r["claims"][0].update(checks=[]), "claims[0].checks is [], expected a list of one entry or more"),
    (lambda r: r["interval"].update(level=1), "interval.level is 1, expected a number above 0 and below 1"),
    (lambda r: r["interval"].update(level=0.0), "interval.level is 0.0, expected a number above 0 and below 1"),
    (lambda r: r["interval"].update(level="x"), "interval.level is 'x', expected a number above 0 and below 1"),
    (lambda r: r.pop("paths"), "the configuration lacks the key 'paths'"),
    (lambda r: r["training_seeds"].update(drfit=[1]), "there is no data set 'drfit'; did you mean 'drift'?"),
    (lambda r: r["own"]["judged_on"].pop("drift"), "own.judged_on lacks the key 'drift', a data set of own.claims[0]"),
    (lambda r: r["titles"].update(drift="D"), "there is no part of a claim, data sets apart, 'drift'"),
    (lambda r: r["own"]["judged_on"].update(drift=[5, "six"]), "own.judged_on.drift[1] is 'six', expected a whole"),
]


def test_the_shipped_rules_are_allowed() -> None:
    check_rules(rules())


@pytest.mark.parametrize(("spoil", "sentence"), BAD_RULES, ids=[sentence for _, sentence in BAD_RULES])
def test_bad_rules_are_refused_by_place(spoil: Callable[[dict[str, Any]], object], sentence: str) -> None:
    bad = rules()
    spoil(bad)
    with pytest.raises(cams.InputError) as refusal:
        check_rules(bad)
    assert sentence in str(refusal.value)


# Keys below these are names of their own.
FREE = ("paper", "experiments")


@examples(100)
@given(data=st.data())
def test_fuzz_misspelt_keys(data: st.DataObject) -> None:
    bad = rules()
    named = [place for place in places(bad, FREE) if isinstance(place[-1], str)]
    place = data.draw(st.sampled_from(named))
    # Without its last letter `baselines` is a key of its own.
    if misspell(bad, place, data.draw(st.integers(0, 50))) in (None, "baseline"):
        return
    with pytest.raises(cams.InputError):
        check_rules(bad)


@examples(100)
@given(data=st.data())
def test_fuzz_wrong_values(data: st.DataObject) -> None:
    """A value is refused, or of the kind that was there; no other error comes of it."""
    bad = rules()
    place = data.draw(st.sampled_from([place for place in places(bad) if "paper" not in place]))
    before, value = holder(bad, place)[place[-1]], data.draw(JUNK)
    holder(bad, place)[place[-1]] = value
    try:
        check_rules(bad)
    except cams.InputError:
        return
    alike = (int, float) if isinstance(before, int | float) else type(before)
    several = place[-1] in ("seeds", "datasets", "baseline", "within")
    assert several or (isinstance(value, alike) and isinstance(value, bool) == isinstance(before, bool))
