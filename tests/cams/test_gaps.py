"""Rounds on which models abstain: the compiled engine decides as the readable learners do."""

from typing import Any

import numpy as np
import pytest
from equal_play import NEEDS_POLICIES, assert_equal, every_learner, with_rates_and_priors
from hypothesis import given
from hypothesis import strategies as st

import cams
from tests.fuzzing import examples


def _with_gaps(bundle: cams.Bundle, share: float, seed: int = 0, advice: Any = None) -> cams.Bundle:
    """Return the bundle with this share of its predictions missing at random, though never a whole row."""
    rng = np.random.default_rng(seed)
    missing = rng.random(bundle.predictions.shape) < share
    missing[np.arange(len(missing)), rng.integers(0, bundle.num_models, len(missing))] = False
    return cams.Bundle(
        predictions=np.where(missing, -1, bundle.predictions),
        labels=bundle.labels,
        advice=bundle.advice if advice is None else advice,
        num_classes=bundle.num_classes,
        abstain=-1,
    )


def _trusting_few(bundle: cams.Bundle) -> np.ndarray:
    """Advice of zeros and ones: every policy trusts one model, which often has nothing to say."""
    rng = np.random.default_rng(3)
    shape = bundle.advice.shape[:2]
    return np.eye(bundle.num_models, dtype=np.float32)[rng.integers(0, bundle.num_models, shape)]


@pytest.mark.parametrize("regularize", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_on_random_gaps(make_bundle: Any, play_plainly: Any, regularize: bool, scaled: bool) -> None:
    bundle = _with_gaps(make_bundle(seed=11), 0.3)
    how = {"regularize": regularize, "scaled": scaled, "realizations": 2}
    assert_equal(bundle, play_plainly, horizon=80, budgets=[3, 25], **how)


CASES = {
    "doubles": ({"dtype": np.float64}, 0.3),
    "hardly_any": ({}, 0.01),
    "mostly_one_answer": ({}, 0.85),
    "two_models": ({"k": 2}, 0.4),
    "no_policies": ({"n": 0}, 0.3),
    "two_classes": ({"c": 2}, 0.3),
    "more_classes_than_models": ({"c": 1000, "skill": 0.5}, 0.3),
    "models_never_right": ({"skill": 0.0, "c": 6}, 0.3),
    "many_models": ({"k": 23, "n": 9}, 0.1),
}


@pytest.mark.parametrize("case", CASES)
def test_on_degenerate_bundles(make_bundle: Any, play_plainly: Any, case: str) -> None:
    options, share = CASES[case]
    assert_equal(_with_gaps(make_bundle(rows=60, **options), share), play_plainly, horizon=50, budgets=[0, 6, 100])


@pytest.mark.parametrize("regularize", [False, True])
def test_policies_that_trust_abstainers_alone(make_bundle: Any, play_plainly: Any, regularize: bool) -> None:
    whole = make_bundle(rows=80, k=5, n=6)
    bundle = _with_gaps(whole, 0.4, advice=_trusting_few(whole))
    assert (bundle.advice * (bundle.predictions >= 0)[:, None] == 0).all(axis=2).any()
    assert_equal(bundle, play_plainly, horizon=80, budgets=[4, 30], regularize=regularize)


def test_advice_that_gives_those_who_answer_next_to_nothing(make_bundle: Any, play_plainly: Any) -> None:
    whole = make_bundle(rows=80, k=4, n=5)
    tiny = 10.0 ** -np.random.default_rng(2).integers(20, 40, whole.advice.shape)
    assert_equal(_with_gaps(whole, 0.4, advice=_trusting_few(whole) + tiny), play_plainly, horizon=80, budgets=[5, 40])


@pytest.mark.parametrize("regularize", [False, True])
def test_every_rate_rule_and_prior(make_bundle: Any, play_plainly: Any, regularize: bool) -> None:
    bundle = _with_gaps(make_bundle(rows=60, seed=6), 0.3)
    learners = with_rates_and_priors(bundle)
    assert_equal(bundle, play_plainly, horizon=50, budgets=[0, 5, 100], learners=learners, regularize=regularize)


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_spent_budgets_on_a_curve(make_bundle: Any, play_plainly: Any, share: float) -> None:
    """With enough models for tiles, and rounds on which all answer in between."""
    bundle = _with_gaps(make_bundle(rows=250, k=18, n=7, c=4, seed=8), share)
    learners = [*every_learner(bundle), {"name": "cams", "label": "prior", "prior": 5.0}]
    assert_equal(bundle, play_plainly, horizon=250, budgets=[0, 2, 5, 12, 40, 90], learners=learners)


@given(
    size=st.tuples(st.integers(2, 6), st.integers(0, 5), st.integers(2, 5)),
    share=st.floats(0, 0.9),
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(list(cams.LEARNERS)),
    regularize=st.booleans(),
    scaled=st.booleans(),
)
@examples(60)
def test_on_any_gaps(
    make_bundle: Any, play_plainly: Any, size: Any, share: float, seed: int, name: str, regularize: bool, scaled: bool
) -> None:
    k, n, c = size
    n = max(1, n) if name in NEEDS_POLICIES else n
    bundle = _with_gaps(make_bundle(rows=40, k=k, n=n, c=c, seed=seed), share, seed)
    how = {"regularize": regularize, "scaled": scaled, "learners": [name]}
    assert_equal(bundle, play_plainly, horizon=40, budgets=[0, 2, 7, 15, 40], **how)
