"""Recommendation rules of learners that weigh policies: which model, from q (m,), pi (m, k) and w (k,).

Each returns the model and the probability with which it was drawn (1 where nothing was drawn).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cams.engine import spec
from cams.learners.base import Floats, pick_tied, sample
from cams.randomness import MODEL, POLICY, TIE

Pick = Callable[[Floats, Floats, Floats, Floats], tuple[int, float]]


def mixture(q: Floats, pi: Floats, w: Floats, uniforms: Floats) -> tuple[int, float]:
    """The model with the most weighted votes: argmax w."""
    return pick_tied(w, uniforms[TIE]), 1.0


def best_policy(q: Floats, pi: Floats, w: Floats, uniforms: Floats) -> tuple[int, float]:
    """The favourite model of the policy with the most weight."""
    i = pick_tied(q, uniforms[POLICY])
    return pick_tied(pi[i], uniforms[TIE]), 1.0


def random_policy(q: Floats, pi: Floats, w: Floats, uniforms: Floats) -> tuple[int, float]:
    """The favourite model of a policy drawn from q."""
    i = sample(q, uniforms[POLICY])
    return pick_tied(pi[i], uniforms[TIE]), 1.0


def sample_policy(q: Floats, pi: Floats, w: Floats, uniforms: Floats) -> tuple[int, float]:
    """A model drawn from the advice of a policy drawn from q."""
    i = sample(q, uniforms[POLICY])
    j = sample(pi[i], uniforms[MODEL])
    return j, float(w[j])


def sample_model(q: Floats, pi: Floats, w: Floats, uniforms: Floats) -> tuple[int, float]:
    """A model drawn from the mixture w."""
    j = sample(w, uniforms[MODEL])
    return j, float(w[j])


@dataclass(frozen=True)
class Recommendation:
    """A rule and the code by which the compiled engine knows it."""

    pick: Pick
    code: int


RECOMMENDATIONS = {
    "mixture": Recommendation(mixture, spec.RECOMMEND_MIXTURE),
    "best_policy": Recommendation(best_policy, spec.RECOMMEND_BEST_POLICY),
    "random_policy": Recommendation(random_policy, spec.RECOMMEND_RANDOM_POLICY),
    "sample_policy": Recommendation(sample_policy, spec.RECOMMEND_SAMPLE_POLICY),
    "sample_model": Recommendation(sample_model, spec.RECOMMEND_SAMPLE_MODEL),
}
