"""Fuzzing the configuration: there is a plan or one sentence, and no misspelt key is passed over."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

import cams
from experiments.runner.configuration import compose_run
from experiments.runner.plan import Plan
from experiments.runner.resolve import make_plan
from tests.fuzzing import JUNK, Place, examples, holder, misspell, places

# Composed from other files, and checked by data preparation.
ELSEWHERE = ("dataset", "scale")


@pytest.fixture(scope="module", params=["main", "sharpness", "covtype", "adversarial"])
def configuration(request: pytest.FixtureRequest) -> dict[str, Any]:
    plain = OmegaConf.to_container(compose_run([f"experiment={request.param}"]), resolve=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def read_back(plan: Plan, place: Place) -> Any:
    """Return what a plan holds of the entry at a place, None if it is not there as it was given."""
    if place[0] == "learner" and len(place) > 2:
        return next((learner.settings[place[2]] for learner in plan.learners if learner.name == place[1]), None)
    if place[:2] == ("experiment", "options"):
        return holder({"options": plan.options}, place[1:])[place[-1]]
    kept = {("seed",), ("horizon",), ("realizations",), ("experiment", "compute"), ("experiment", "needs_bundle")}
    return getattr(plan, place[-1]) if place in kept else None


@examples(50)
@given(data=st.data())
def test_fuzz_wrong_values(configuration: dict[str, Any], data: st.DataObject) -> None:
    """A value is refused, or is in the plan where a plan has a place for it."""
    place = data.draw(st.sampled_from(places(configuration, ELSEWHERE)))
    cfg, value = OmegaConf.create(configuration), data.draw(JUNK)
    holder(cfg, place)[place[-1]] = value
    try:
        plan = make_plan(cfg, "drift")
    except cams.InputError:
        return
    assert isinstance(plan, Plan)
    assert plan.horizon >= 1
    assert min(plan.budgets) >= 0
    kept = read_back(plan, place)
    assert kept is None or value is None or kept == value or (kept != kept and value != value)


@examples(50)
@given(data=st.data())
def test_fuzz_misspelt_keys(configuration: dict[str, Any], data: st.DataObject) -> None:
    named = [place for place in places(configuration, ELSEWHERE) if isinstance(place[-1], str)]
    # Data sets, kinds of pools and orders have names of their own, which a schema cannot know.
    own = [place for place in named if "streams" not in place[-2:-1] and place[-2:-1] not in (("pools",), ("orders",))]
    place = data.draw(st.sampled_from(own))
    cfg = OmegaConf.create(configuration)
    if misspell(cfg, place, data.draw(st.integers(0, 50))) is None:
        return
    with pytest.raises(cams.InputError, match=r"no key|has no|there is no|learner"):
        make_plan(cfg, "drift")
