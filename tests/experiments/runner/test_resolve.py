"""Fuzzing the configuration: there is a plan or one sentence, and no misspelt key is passed over."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import DictConfig, OmegaConf

import cams
from experiments.runner.configuration import compose_run
from experiments.runner.plan import Plan
from experiments.runner.resolve import make_plan
from tests.fuzzing import examples

# Composed from other files, and checked by data preparation.
ELSEWHERE = ("dataset", "scale")
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**70),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(-1, 3), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@pytest.fixture(scope="module", params=["main", "sharpness", "covtype", "adversarial"])
def configuration(request: pytest.FixtureRequest) -> dict[str, Any]:
    plain = OmegaConf.to_container(compose_run([f"experiment={request.param}"]), resolve=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every entry, however deep."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    inner = [(*path, key) for key, _ in entries if key not in ELSEWHERE]
    return inner + [deeper for place in inner for deeper in places(node[place[-1]], place)]


def changed(node: dict[str, Any], place: tuple[Any, ...]) -> tuple[DictConfig, Any]:
    """Return a copy of a configuration and the container in it that holds an entry."""
    copy = OmegaConf.create(node)
    inside: Any = copy
    for key in place[:-1]:
        inside = inside[key]
    return copy, inside


@examples(50)
@given(data=st.data())
def test_fuzz_wrong_values(configuration: dict[str, Any], data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(places(configuration)))
    cfg, container = changed(configuration, place)
    container[place[-1]] = data.draw(JUNK)
    try:
        plan = make_plan(cfg, "drift")
    except cams.InputError:
        return
    assert isinstance(plan, Plan)
    assert plan.horizon >= 1
    assert min(plan.budgets) >= 0


@examples(50)
@given(data=st.data())
def test_fuzz_misspelt_keys(configuration: dict[str, Any], data: st.DataObject) -> None:
    named = [place for place in places(configuration) if isinstance(place[-1], str)]
    # Data sets, kinds of pools and orders have names of their own, which a schema cannot know.
    own = [place for place in named if "streams" not in place[-2:-1] and place[-2:-1] not in (("pools",), ("orders",))]
    place = data.draw(st.sampled_from(own))
    cfg, container = changed(configuration, place)
    at = data.draw(st.integers(0, len(place[-1]) - 1))
    misspelt = place[-1][:at] + place[-1][at + 1 :]
    if misspelt in container or not misspelt:
        return
    container[misspelt] = container.pop(place[-1])
    with pytest.raises(cams.InputError, match=r"no key|has no|there is no|learner"):
        make_plan(cfg, "drift")
