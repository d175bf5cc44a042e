"""Misspelt keys and values of the wrong kind are refused by name and place; what is right passes."""

import pytest
from omegaconf import OmegaConf

from cams import InputError
from data_prep.pipeline.schema import ANYTHING, Each, check

SCHEMA = {
    "title": str,
    "horizon": (int, None),
    "floor": float,
    "scaled": bool,
    "learners": [(str, {"name": str, "label": str})],
    "streams": Each({"budget": int}),
    "options": ANYTHING,
}
GOOD = {
    "title": "Main",
    "horizon": None,
    "floor": 1,
    "scaled": False,
    "learners": ["cams", {"name": "mp", "label": "MP"}],
    "streams": {"drift": {"budget": 5}},
    "options": {"whatever": [1, {"x": None}]},
}


@pytest.mark.parametrize("node", [GOOD, OmegaConf.create(GOOD), {}, GOOD | {"horizon": 3, "floor": 0.5}])
def test_what_the_schema_allows_passes(node):
    check(node, SCHEMA, "experiment")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"titel": "x"}, "experiment has no key 'titel'; did you mean 'title'?"),
        ({"streams": {"drift": {"bugdet": 5}}}, "experiment.streams.drift has no key 'bugdet'; did you mean 'budget'?"),
        ({"learners": [{"nam": "mp"}]}, "experiment.learners[0] has no key 'nam'; did you mean 'name'?"),
        ({"horizon": "abc"}, "experiment.horizon is 'abc', expected a whole number or null"),
        ({"horizon": True}, "experiment.horizon is True, expected a whole number or null"),
        ({"horizon": 2.5}, "experiment.horizon is 2.5, expected a whole number or null"),
        ({"floor": None}, "experiment.floor is null, expected a number"),
        ({"scaled": 1}, "experiment.scaled is 1, expected true or false"),
        ({"learners": "cams"}, "experiment.learners is 'cams', expected a list in brackets"),
        ({"learners": [3]}, "experiment.learners[0] is 3, expected a text or a mapping with name, label"),
        ({"streams": [1]}, "experiment.streams is [1], expected a mapping"),
    ],
)
def test_what_it_does_not_is_named_with_its_place(change, sentence):
    with pytest.raises(InputError) as refusal:
        check(GOOD | change, SCHEMA, "experiment")
    assert str(refusal.value) == sentence
