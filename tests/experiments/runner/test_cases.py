"""Preparing a bundle for a case: which policies stay, and how sharp their advice is."""

from __future__ import annotations

import numpy as np
import pytest

import cams
from experiments.runner.cases import prepare_bundle
from experiments.runner.plan import Case


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
