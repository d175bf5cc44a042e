"""What a selector is told when it is made: the defaults, and one sentence for each thing that cannot be."""

from __future__ import annotations

from enum import Enum

import numpy as np
import pytest

from cams import InputError, Selector

MODELS, POLICIES = ["a", "b", "c", "d"], ["p", "q", "r"]


def make(**options) -> Selector:
    return Selector(**{"models": MODELS, "policies": POLICIES, "num_classes": 3, "horizon": 60, **options})


def test_the_defaults_of_coins_and_of_memory() -> None:
    votes, advice = np.resize([[0, 1, 2, 0], [1, 1, 0, 2]], (1001, 4)), np.full((1001, 3, 4), 0.25)
    selector = make()
    assert selector.step_many(votes, advice) == make(seed=0).step_many(votes, advice)
    assert selector.history()["round"].tolist() == list(range(2, 1002))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"learner": "oracle"}, "learner 'oracle' knows the labels beforehand and cannot be run online"),
        (
            {"learner": "cams_adversarial", "horizon": None},
            "learner 'cams_adversarial': the adversarial rate needs a horizon",
        ),
        ({"learner": "camz"}, "there is no learner 'camz'; did you mean 'cams'?"),
        ({"learner": 3}, "learner is 3, expected the name of a learner"),
        ({"budget": -1}, "budget is -1, expected a number from 0 to 1e+100"),
        ({"budget": np.inf}, "budget is inf, expected a number of at least 0, or None for no limit"),
        ({"budget": np.nan}, "budget is nan, expected a number from 0 to 1e+100"),
        ({"budget": 10**400}, "budget is inf, expected a number from 0 to 1e+100"),
        ({"budget": 2e100}, "budget is 2e+100, expected a number from 0 to 1e+100"),
        ({"budget": "many"}, "budget is 'many', expected a number"),
        ({"cost": 0}, "cost is 0, expected more than 0"),
        ({"cost": -1}, "cost is -1, expected a number from 0 to 1e+100"),
        ({"cost": np.nan}, "cost is nan, expected a number from 0 to 1e+100"),
        ({"cost": 2e100}, "cost is 2e+100, expected a number from 0 to 1e+100"),
        ({"horizon": -5}, "horizon is -5, expected a whole number of at least 1"),
        ({"horizon": 10.5}, "horizon is 10.5, expected a whole number"),
        ({"num_classes": 4.7}, "num_classes is 4.7, expected a whole number"),
        ({"num_classes": 0}, "num_classes is 0, expected a whole number of at least 1"),
        ({"num_classes": 2**40}, "num_classes is 1099511627776, expected a whole number from 1 to 10000000"),
        ({"num_classes": True}, "num_classes is True, expected a whole number"),
        ({"num_classes": None}, "a selector takes either num_classes or classes"),
        ({"num_classes": None, "classes": 3}, "classes is 3, expected a list of classes"),
        ({"history": -1}, "history is -1, expected a whole number of at least 0"),
        ({"history": 10**7 + 1}, "history is 10000001, expected a whole number from 0 to 10000000"),
        ({"seed": -1}, "seed is -1, expected a whole number of at least 0"),
        ({"seed": "zero"}, "seed is 'zero', expected a whole number"),
        ({"scaled": True, "horizon": None, "budget": 3}, "scaled queries need a horizon"),
        ({"scaled": True}, "scaled queries need a budget"),
        ({"scaled": "yes"}, "scaled is 'yes', expected True or False"),
        ({"regularize": 1}, "regularize is 1, expected True or False"),
        ({"models": "abc"}, "models is 'abc', expected a list of names"),
        ({"models": 3}, "models is 3, expected a list of names"),
        ({"models": []}, "models is empty, expected at least one name"),
        ({"models": ["a", "b", "a"]}, "models has the name 'a' twice"),
        ({"policies": "pq"}, "policies is 'pq', expected a list of names"),
        ({"rate": [1, 2]}, "rate is [1, 2], expected a number or a word"),
        (
            {"rat": 1},
            "learner 'cams' has no setting 'rat' (it has: rate, rate_rule, prior, fade, votes, floor); "
            "did you mean 'rate'?",
        ),
    ],
)
def test_bad_selectors_are_refused(options, sentence):
    with pytest.raises(InputError) as error:
        make(**options)
    assert str(error.value) == sentence


def test_a_selector_is_told_little():
    told = Selector(models=["a", "b"], num_classes=2)
    spelt_out = Selector(models=["a", "b"], num_classes=2, learner="cams", seed=0, cost=1.0, history=1000)
    votes = np.arange(2002).reshape(1001, 2) % 2
    assert told.step_many(votes) == spelt_out.step_many(votes)
    assert told.committed == spelt_out.committed == len(told.pending)
    assert told.history()["round"].tolist() == list(range(2, 1002))
    assert Selector(models=["a", "b"], num_classes=2, seed=1).step_many(votes) != told.step_many(votes)


def test_a_word_may_be_a_member_of_an_enumeration():
    class Word(str, Enum):  # noqa: UP042  (of which `str` gives the name)
        HEDGE = "hedge"
        CNN = "cnn"
        NOTHING = "?"

    selector = Selector(models=[Word.CNN, "b"], classes=["x", "y"], learner=Word.HEDGE, abstain=Word.NOTHING)
    assert selector.models == ["cnn", "b"]
    assert repr(selector).startswith("Selector(hedge: ")
    assert selector.step({"cnn": "?", "b": "y"}).model == "b"
