"""A bundle as a case wants it: some of its policies, softer or sharper advice, another share of malicious policies."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.errors import InputError, lookup
from cams.policies import complement, temper
from experiments.runner.crowd import with_copies, with_different
from experiments.runner.plan import Case

Array = npt.NDArray[Any]

# Rows of advice sharpened at a time: a second copy of all would not fit everywhere.
CHUNK_ROWS = 200
# Purpose of random numbers, apart from those of cams.randomness.
TURNED = 102
# Advice of exactly 0 has no finite opposite.
LEAST = 1e-30


def prepare_bundle(bundle: Bundle, case: Case, seed: int) -> Bundle:
    if case.copies:
        bundle = with_copies(bundle, case.copies)
    if case.different:
        bundle = with_different(bundle, case.different, seed)
    if case.malicious is not None:
        bundle = with_malice(bundle, case.malicious, case.contrary, seed)
    if case.policies == "none":
        return bundle.without_policies()
    if case.policies != "all":
        bundle = bundle.select_policies(kinds=case.policies)
        if bundle.num_policies == 0:
            raise InputError(f"the filter policies={list(case.policies)} leaves no policy")
    return bundle if case.temper == 1.0 else _temper_bundle(bundle, case.temper)


def _temper_bundle(bundle: Bundle, power: float) -> Bundle:
    """Raise advice that was learned to a power; the opposite of the new advice is the opposite, raised to it too."""
    learned = np.flatnonzero(np.array(bundle.policy_kinds) != "random")
    advice = bundle.advice.copy()
    for start in range(0, len(advice), CHUNK_ROWS):
        part = advice[start : start + CHUNK_ROWS]
        part[:, learned] = temper(part[:, learned], power)
    return _advised(bundle, advice, bundle.policy_names, bundle.policy_kinds)


def opposite_of(advice: Array) -> Array:
    """Return softmax(-s r) for advice softmax(s r): its power -1."""
    return temper(np.maximum(advice, LEAST), -1.0)


CONTRARIES: dict[str, Callable[[Array], Array]] = {"opposite": opposite_of, "complement": complement}


def with_malice(bundle: Bundle, share: float, contrary: str, seed: int) -> Bundle:
    """Return the bundle with a share of its learned policies malicious, the others as they were trained.

    Learned are all but the random policies. Their number stays: trained policies come in turn until it is reached.
    Which of them turn malicious is drawn from the seed, and a larger share turns the same ones and more.
    """
    # The same trained policy may turn several times.
    contradict = cache(partial(_contrary_advice, bundle, lookup(CONTRARIES, contrary, "kind of contrary advice")))
    kinds, names = list(bundle.policy_kinds), list(bundle.policy_names)
    learned = [i for i, kind in enumerate(kinds) if kind != "random"]
    trained = [i for i, kind in enumerate(kinds) if kind in ("normal", "biased")]
    if not trained:
        raise InputError("the bundle has no trained policy, so none can turn malicious")
    drawn = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, TURNED))).permutation(len(learned))
    turned = set(drawn[: round(share * len(learned))].tolist())
    advice = bundle.advice.copy()
    for turn, policy in enumerate(learned):
        source = trained[turn % len(trained)]
        told, name, kind = bundle.advice[:, source], bundle.policy_names[source], bundle.policy_kinds[source]
        if turn in turned:
            told, name, kind = contradict(source), f"malicious_{name}", "malicious"
        # A policy may come twice, and names must tell them apart.
        advice[:, policy], names[policy], kinds[policy] = told, f"{name}_{turn // len(trained)}", kind
    return _advised(bundle, advice, names, kinds)


def _contrary_advice(bundle: Bundle, contradict: Callable[[Array], Array], policy: int) -> Array:
    return contradict(bundle.advice[:, policy])


def _advised(bundle: Bundle, advice: Array, names: list[str], kinds: list[str]) -> Bundle:
    """Return the same rows and classifiers with other policies."""
    return Bundle(
        predictions=bundle.predictions,
        labels=bundle.labels,
        advice=advice,
        num_classes=bundle.num_classes,
        model_names=bundle.model_names,
        policy_names=names,
        policy_kinds=kinds,
        groups=bundle.groups,
    )
