"""Fuzzing what a data set says of itself: a stage begins with settings that are as given, or there is one sentence."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from cams import InputError
from data_prep.pipeline.context import Context
from data_prep.pipeline.settings import check_general, check_zoo
from data_prep.pipeline.shell import REFUSED
from tests.data_prep.conftest import CONF
from tests.fuzzing import JUNK, examples, holder, misspell, places

# Names of estimators' own constants, which only scikit-learn knows, and of what is told nobody here.
FREE = ("hydra", "params", "scale", "scales")


@pytest.fixture(scope="module", params=["vertebral", "drift"])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    with initialize_config_dir(CONF, version_base="1.3"):
        plain = OmegaConf.to_container(compose("prep", [f"dataset={request.param}"]), resolve=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def begin(settings: dict[str, Any]) -> Context:
    cfg = OmegaConf.create(settings)
    check_general(cfg)
    context = Context.from_config(cfg)
    check_zoo(context)
    return context


@examples(50)
@given(data=st.data())
def test_fuzz_misspelt_keys(settings: dict[str, Any], data: st.DataObject) -> None:
    bad = copy.deepcopy(settings)
    place = data.draw(st.sampled_from([place for place in places(bad, FREE) if isinstance(place[-1], str)]))
    if misspell(bad, place, data.draw(st.integers(0, 50))) is None:
        return
    with pytest.raises(InputError, match="has no key"):
        begin(bad)


@examples(50)
@given(data=st.data())
def test_fuzz_wrong_values(settings: dict[str, Any], data: st.DataObject) -> None:
    """A value is refused, or is what a stage is told."""
    bad = copy.deepcopy(settings)
    place, value = data.draw(st.sampled_from(places(bad, FREE))), data.draw(JUNK)
    holder(bad, place)[place[-1]] = value
    try:
        context = begin(bad)
    except REFUSED:
        return
    told = {"dataset": {"zoo": OmegaConf.to_container(context.settings)}} | vars(context)
    known = places(told)
    if place in known:
        found = holder(told, place)[place[-1]]
        assert found == value or (found != found and value != value)
    # A word for a number, or anything for a mapping, is no setting of anybody's.
    before = holder(settings, place)[place[-1]]
    assert not isinstance(before, int | float) or value is None or isinstance(value, int | float)
