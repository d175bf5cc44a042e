"""Preparing a bundle for a case: which policies stay, how sharp their advice is, how many are malicious."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import cams
from cams.policies import complement, opposite, sharpen
from experiments.runner.plan import Case
from experiments.runner.preparation import opposite_of, with_malice
from experiments.runner.preparation import prepare_bundle as prepare


def prepare_bundle(bundle: cams.Bundle, case: Case) -> cams.Bundle:
    return prepare(bundle, case, seed=0)


def test_filters(bundle: cams.Bundle) -> None:
    assert prepare_bundle(bundle, Case()) is bundle
    assert prepare_bundle(bundle, Case(policies="none")).num_policies == 0
    assert set(prepare_bundle(bundle, Case(policies=("malicious", "random"))).policy_kinds) == {"malicious", "random"}
    with pytest.raises(cams.InputError, match="leaves no policy"):
        prepare_bundle(bundle.select_policies(kinds=["normal"]), Case(policies=("random",)))


@pytest.mark.parametrize("power", [0.0, 0.25, 4.0])
def test_malicious_advice_follows_what_it_contradicts(bundle: cams.Bundle, power: float) -> None:
    sharpened = prepare_bundle(bundle, Case(temper=power))
    # In the fixture policies 3 and 4 are the opposite of 0 and 1, so the product over models is the same for each.
    product = sharpened.advice[:, 3:5] * sharpened.advice[:, 0:2]
    assert np.allclose(product, product[..., :1], rtol=1e-6)
    assert np.array_equal(sharpened.advice[:, 5], bundle.advice[:, 5])


def test_from_flat_to_one_hot(bundle: cams.Bundle) -> None:
    flat, sharp = (prepare_bundle(bundle, Case(temper=power)).advice[:, 0] for power in (0.0, float("inf")))
    assert np.allclose(flat, 1 / bundle.num_models)
    first = bundle.advice[:, 0]
    assert np.array_equal(sharp > 0, first == first.max(axis=1, keepdims=True))


def test_power_one_changes_nothing(bundle: cams.Bundle) -> None:
    assert np.allclose(prepare_bundle(bundle, Case(temper=1.0 + 1e-12)).advice, bundle.advice, atol=1e-6)


def test_the_opposite_can_be_told_from_advice_alone() -> None:
    rewards = np.random.default_rng(0).random((50, 4))
    assert np.allclose(opposite_of(sharpen(rewards, 20.0).astype(np.float32)), opposite(rewards, 20.0), rtol=1e-5)
    # The opposite of certainty shuns the one model and is indifferent among the others.
    assert np.allclose(opposite_of(np.array([1.0, 0.0, 0.0])), [0, 0.5, 0.5])


@pytest.mark.parametrize(("share", "malicious"), [(0.0, 0), (0.2, 1), (0.6, 3), (0.9, 4)])
def test_the_share_of_malicious_policies(bundle: cams.Bundle, share: float, malicious: int) -> None:
    # Five of the fixture's six policies are learned: three trained ones, which then come in turn, and two opposites.
    changed = with_malice(bundle, share, "opposite", seed=3)
    assert list(changed.policy_kinds).count("malicious") == malicious
    assert np.array_equal(changed.advice[:, 5], bundle.advice[:, 5])
    for turn, source in enumerate([0, 1, 2, 0, 1]):
        told = bundle.advice[:, source]
        expected = opposite_of(told) if changed.policy_kinds[turn] == "malicious" else told
        assert np.allclose(changed.advice[:, turn], expected, atol=1e-6)


def test_a_larger_share_turns_the_same_policies_and_more(bundle: cams.Bundle) -> None:
    turned = [
        {i for i, kind in enumerate(with_malice(bundle, share, "opposite", 3).policy_kinds) if kind == "malicious"}
        for share in (0.2, 0.4, 0.6, 0.8, 1.0)
    ]
    assert all(fewer < more for fewer, more in itertools.pairwise(turned))


def test_contrary_advice_may_be_the_complement(bundle: cams.Bundle) -> None:
    changed = prepare_bundle(bundle, Case(malicious=1.0, contrary="complement"))
    assert np.allclose(changed.advice[:, 0], complement(bundle.advice[:, 0]), atol=1e-6)
    with pytest.raises(cams.InputError, match="did you mean 'opposite'"):
        prepare_bundle(bundle, Case(malicious=1.0, contrary="oposite"))
    with pytest.raises(cams.InputError, match="no trained policy"):
        prepare_bundle(bundle.select_policies(kinds=["random"]), Case(malicious=0.5))
