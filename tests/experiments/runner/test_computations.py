"""Which code a record is held against: all that computes it, nothing that only shows it."""

from __future__ import annotations

import pytest

import cams
from data_prep.pipeline.code import reached
from experiments.runner.computations import COMPUTATIONS, computation, computation_code


@pytest.mark.parametrize("word", COMPUTATIONS)
def test_the_code_behind_a_record(word: str) -> None:
    modules = set(reached(computation(word).__module__))
    assert {"cams.engine.kernel", "cams.learners.cams", "cams.policies", "cams.randomness"} <= modules
    shown = ("experiments.figures", "experiments.tables", "experiments.claims", "experiments.report", "cams.online")
    assert not [module for module in modules if module.startswith(shown)]


def test_computations_have_hashes_of_their_own() -> None:
    assert computation_code("replay") == computation_code("replay")
    assert computation_code("replay") != computation_code("adversarial")


def test_an_unknown_computation_is_refused() -> None:
    with pytest.raises(cams.InputError, match="did you mean 'replay'"):
        computation("replya")
