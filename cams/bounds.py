"""Regret and query bounds: CAMS's four theorems and the algorithms the paper sets beside it.

Symbols: T `horizon`, k `num_models`, n `num_policies`, m = n + k `num_extended` (policies plus one
constant policy per model), c `num_classes`, delta `failure` (the bound holds with probability at least 1
- delta). All logarithms are natural unless written log_c. Every function returns a plain number:
instances, or labels.

Two of the paper's statements are misprinted, and both readings are offered here so that they can be shown
side by side: the range b of Theorem 1 (`advice_range` against `advice_range_printed`) and the terms that
Theorem 2 drops (`cams_stochastic_queries` against `cams_stochastic_queries_printed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log, sqrt
from typing import Any

import numpy as np

from cams.errors import InputError


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise InputError(sentence)


# Squares and products of such numbers stay finite.
LEAST_SIZE, LARGEST_SIZE = 1e-60, 1e60
# What is not looked at more closely where it is used.
_LEAST = {"num_models": 1, "num_classes": 1, "regret": 0, "best_error": 0, "best_loss": 0, "range_": 0}


def _numbers(**given: Any) -> tuple[Any, ...]:
    """Return finite numbers as Python's own, which do not overflow as numpy's small ones do; refuse what is none.

    An infinite or missing one would come out as a bound like any other.
    """
    # Before they are compared: a limit may be beyond what numpy's small ones can hold.
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}
    for name, value in plain.items():
        known = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
        finite = known and (isinstance(value, int) or isfinite(value))
        _require(finite, f"{name} is {value!r}, expected a finite number")
        in_reach = value == 0 or LEAST_SIZE <= abs(value) <= LARGEST_SIZE
        _require(in_reach, f"{name} is beyond reach, expected a number from {LEAST_SIZE:g} to {LARGEST_SIZE:g} in size")
        if name in _LEAST:
            _require(value >= _LEAST[name], f"{name} is {value}, expected at least {_LEAST[name]}")
    return tuple(plain.values())


def _require_horizon(horizon: float) -> None:
    _require(horizon >= 1, f"horizon is {horizon}, expected at least 1")


def _require_failure(failure: float) -> None:
    _require(0 < failure < 1, f"failure is {failure}, expected a probability strictly between 0 and 1")


# Bandits and experts: anchors that see one loss a round, or all of them, and always have the label.


def exp3_regret(horizon: float, num_models: int) -> float:
    """2 sqrt(T k log k). Adversarial losses in [0, 1], bandit feedback, in expectation, against the best
    model."""
    horizon, num_models = _numbers(horizon=horizon, num_models=num_models)
    _require_horizon(horizon)
    return 2 * sqrt(horizon * num_models * log(num_models))


def exp3p_regret(horizon: float, num_models: int, failure: float) -> float:
    """5.15 sqrt(k T log(k / delta)). As Exp3, with probability 1 - delta. The paper prints n for the
    number of arms; the arms are the models, so it is k here."""
    horizon, num_models, failure = _numbers(horizon=horizon, num_models=num_models, failure=failure)
    _require_horizon(horizon)
    _require_failure(failure)
    return 5.15 * sqrt(num_models * horizon * log(num_models / failure))


def exp4_regret(horizon: float, num_models: int, num_policies: int) -> float:
    """sqrt(2 T k log n). Adversarial losses, bandit feedback, in expectation, against the best policy."""
    horizon, num_models, num_policies = _numbers(horizon=horizon, num_models=num_models, num_policies=num_policies)
    _require_horizon(horizon)
    _require(num_policies >= 1, f"num_policies is {num_policies}, expected at least 1")
    return sqrt(2 * horizon * num_models * log(num_policies))


def exp4p_regret(horizon: float, num_models: int, num_policies: int, failure: float) -> float:
    """6 sqrt(k T ln(n / delta)). As Exp4, with probability 1 - delta."""
    horizon, num_models, num_policies, failure = _numbers(
        horizon=horizon, num_models=num_models, num_policies=num_policies, failure=failure
    )
    _require_horizon(horizon)
    _require_failure(failure)
    _require(num_policies >= 1, f"num_policies is {num_policies}, expected at least 1")
    return 6 * sqrt(num_models * horizon * log(num_policies / failure))


# Model Picker: active queries without context.


def model_picker_stochastic_regret(gaps: Sequence[float], disagreements: Sequence[float]) -> float:
    """62 max_i Delta_i k / (lambda^2 log k), lambda = min_j Delta_j^2 / theta_j over the suboptimal models j.

    `gaps` are the Delta_j > 0 and `disagreements` the theta_j = Pr[exactly one of j and the best model is
    right], one entry per suboptimal model, so k = len(gaps) + 1. Assumes instances drawn i.i.d. and a
    single best model.
    """
    _require(
        all(isinstance(given, Sequence) or np.ndim(given) == 1 for given in (gaps, disagreements)),
        "gaps and disagreements are lists, one entry per suboptimal model",
    )
    gaps = [value for gap in gaps for value in _numbers(gap=gap)]
    disagreements = [value for theta in disagreements for value in _numbers(disagreement=theta)]
    _require(len(gaps) == len(disagreements) and len(gaps) > 0, "expected one gap and one disagreement per model")
    _require(min(gaps) > 0, "every gap must be positive: a single best model is assumed")
    _require(min(disagreements) > 0, "every disagreement must be positive")
    num_models = len(gaps) + 1
    hardness = min(gap**2 / theta for gap, theta in zip(gaps, disagreements, strict=True))
    return 62 * max(gaps) * num_models / (hardness**2 * log(num_models))


def model_picker_stochastic_queries(horizon: float, num_models: int, num_classes: int, gap: float) -> float:
    """sqrt(2 T log k) (1 + 4 c / Delta). In expectation, i.i.d. instances, Delta the gap to the second
    best model."""
    horizon, num_models, num_classes, gap = _numbers(
        horizon=horizon, num_models=num_models, num_classes=num_classes, gap=gap
    )
    _require_horizon(horizon)
    _require(gap > 0, f"gap is {gap}, expected a positive number")
    return sqrt(2 * horizon * log(num_models)) * (1 + 4 * num_classes / gap)


def model_picker_adversarial_regret(horizon: float, num_models: int) -> float:
    """2 sqrt(2 T log k). In expectation, any stream fixed in advance, the model sampled from the weights."""
    horizon, num_models = _numbers(horizon=horizon, num_models=num_models)
    _require_horizon(horizon)
    return 2 * sqrt(2 * horizon * log(num_models))


def model_picker_adversarial_queries(horizon: float, num_models: int, best_loss: float) -> float:
    """5 sqrt(T log k) + 2 L_{T,*}, with L_{T,*} the loss of the best model on this stream."""
    horizon, num_models, best_loss = _numbers(horizon=horizon, num_models=num_models, best_loss=best_loss)
    _require_horizon(horizon)
    return 5 * sqrt(horizon * log(num_models)) + 2 * best_loss


# CAMS, stochastic streams (Theorems 1 and 2).


def advice_range_printed(smallest_advice: float, num_classes: int) -> float:
    """b = p_min log_c(1 / p_min), as Theorem 1 prints it. It is the reciprocal of what its proof uses."""
    smallest_advice, num_classes = _numbers(smallest_advice=smallest_advice, num_classes=num_classes)
    _require(0 < smallest_advice < 1, f"smallest_advice is {smallest_advice}, expected in (0, 1)")
    _require(num_classes >= 2, f"num_classes is {num_classes}, expected at least 2")
    return smallest_advice * log(1 / smallest_advice) / log(num_classes)


def advice_range(smallest_advice: float, num_classes: int) -> float:
    """b = 1 / (p_min log_c(1 / p_min)), the bound on |difference of two policies' estimated losses| in
    the proof.

    p_min > 0 is the least probability that any policy gives any model (regularised policies have one).
    The proof lower-bounds z_t by one term of the disagreement without its factor 1/c; that constant is
    left as it is there.
    """
    return 1 / advice_range_printed(smallest_advice, num_classes)


def _cams_threshold(num_extended: int, gap: float, margin: float, range_: float, log_term: float) -> float:
    """The round after which CAMS follows the best policy: ((ln((m-1)/gamma) + b sqrt(2 ln m * log_term))
    / (sqrt(ln m) Delta))^2."""
    _require(num_extended >= 2, f"num_extended is {num_extended}, expected at least 2")
    _require(gap > 0, f"gap is {gap}, expected a positive number: the best policy is assumed to be single")
    _require(0 < margin <= 1, f"margin is {margin}, expected in (0, 1]: the best policy may not have ties")
    log_m = log(num_extended)
    numerator = log((num_extended - 1) / margin) + sqrt(log_m * 2 * range_**2 * log_term)
    return (numerator / (sqrt(log_m) * gap)) ** 2


def cams_stochastic_regret(num_extended: int, gap: float, margin: float, range_: float, failure: float) -> float:
    """Theorem 1: with probability 1 - delta, regret at most
    ((ln((m-1)/gamma) + sqrt(ln m * 2 b^2 ln(2/delta))) / (sqrt(ln m) Delta))^2, whatever the horizon.

    Assumes i.i.d. instances, a single best policy with gap Delta (`gap`) in the loss of the policies'
    most probable models, at least gamma (`margin`) between the two most probable models of the best
    policy at every instance, and `range_` = b = `advice_range(p_min, c)` (the printed reciprocal gives
    the number the paper's text would give). The regret is against the best policy by its most probable
    model.
    """
    num_extended, gap, margin, range_, failure = _numbers(
        num_extended=num_extended, gap=gap, margin=margin, range_=range_, failure=failure
    )
    _require_failure(failure)
    return _cams_threshold(num_extended, gap, margin, range_, log(2 / failure))


def cams_stochastic_regret_expected(
    horizon: float, num_extended: int, gap: float, margin: float, range_: float
) -> float:
    """The last line of Theorem 1's proof, delta = 1/T: an expectation, growing with ln T. Assumptions as
    there."""
    horizon, num_extended, gap, margin, range_ = _numbers(
        horizon=horizon, num_extended=num_extended, gap=gap, margin=margin, range_=range_
    )
    _require(horizon >= 2, f"horizon is {horizon}, expected at least 2")
    threshold = _cams_threshold(num_extended, gap, margin, range_, log(2 * horizon))
    return (1 - 1 / horizon) * threshold + 1


def _queries_from_loss(horizon: float, loss: float, num_classes: int) -> float:
    """2 sqrt(T) + loss (log_c T + 1) / c: the floor 1/sqrt(t) summed, and the summed disagreement."""
    return 2 * sqrt(horizon) + loss * (log(horizon) / log(num_classes) + 1) / num_classes


def cams_stochastic_queries(horizon: float, regret: float, best_error: float, num_classes: int) -> float:
    """Theorem 2 with the proof's terms: 2 sqrt(T) + (R + T mu*) (log_c T + 1) / c.

    `regret` is Theorem 1's R, `best_error` mu*, the share of instances on which the best policy errs. The last line of
    the proof forgets 2 sqrt(T) and reads log_c(T c) as log_c T; the paper prints that line
    (`cams_stochastic_queries_printed`). The proof also needs R + T mu* >= sqrt(T (c-1)/c); and its inner
    inequality (a) on the disagreement fails when the loss of a round exceeds one half, but (1-p)
    ln(1/(1-p)) <= p gives a sum of at most L (log_c(T/L) + 1/ln c) / c for a total loss L, which is no
    larger than the bound here as soon as L >= e/c.
    """
    horizon, regret, best_error, num_classes = _numbers(
        horizon=horizon, regret=regret, best_error=best_error, num_classes=num_classes
    )
    _require_horizon(horizon)
    _require(num_classes >= 2, f"num_classes is {num_classes}, expected at least 2")
    return _queries_from_loss(horizon, regret + horizon * best_error, num_classes)


def cams_stochastic_queries_printed(horizon: float, regret: float, best_error: float, num_classes: int) -> float:
    """Theorem 2 as printed: (R + T mu*) ln T / (c ln c)."""
    horizon, regret, best_error, num_classes = _numbers(
        horizon=horizon, regret=regret, best_error=best_error, num_classes=num_classes
    )
    _require_horizon(horizon)
    _require(num_classes >= 2, f"num_classes is {num_classes}, expected at least 2")
    return (regret + horizon * best_error) * log(horizon) / (num_classes * log(num_classes))


# CAMS, adversarial streams (Theorems 3 and 4).


def cams_adversarial_regret(
    horizon: float, num_extended: int, num_classes: int, rho: float, rounds: float | None = None
) -> float:
    """Theorem 3: 2 c sqrt(ln c / max(rho_T, sqrt(1/T))) sqrt(T ln m), in expectation, on any stream.

    rho_T = 1 - the largest mass CAMS has put on one label so far; 0 is always valid and gives the T^(3/4)
    rate. The rate eta_t must be the adversarial one and the model sampled (learner `cams_adversarial`). The
    regret is against the least sum over t of <pi_i(x_t), l_t> over the m extended policies (regularised
    where the learner's are). After the first t = `rounds` of such a stream the proof gives 2 ln m / eta_t:
    rho_t and sqrt(1/t) replace rho_T and sqrt(1/T), and T stays, since the rate was set for it.
    """
    horizon, num_extended, num_classes, rho = _numbers(
        horizon=horizon, num_extended=num_extended, num_classes=num_classes, rho=rho
    )
    if rounds is not None:
        (rounds,) = _numbers(rounds=rounds)
    t = horizon if rounds is None else rounds
    _require_horizon(t)
    _require(t <= horizon, f"rounds is {t}, expected at most the horizon {horizon}")
    _require(num_classes >= 2, f"num_classes is {num_classes}, expected at least 2")
    _require(num_extended >= 1, f"num_extended is {num_extended}, expected at least 1")
    _require(0 <= rho <= 1, f"rho is {rho}, expected in [0, 1]")
    floor = max(rho, sqrt(1 / t))
    return 2 * num_classes * sqrt(log(num_classes) / floor) * sqrt(horizon * log(num_extended))


def cams_adversarial_queries(
    horizon: float,
    num_extended: int,
    num_classes: int,
    rho: float,
    best_loss: float,
    rounds: float | None = None,
) -> float:
    """Theorem 4, the explicit last line of its proof (the paper prints only its order):
    2 sqrt(T) + (Theorem 3 + L~_{T,*}) (log_c T + 1) / c, with L~_{T,*} the expected loss of the best policy.
    `rounds` as in Theorem 3, with `best_loss` up to that round."""
    (best_loss,) = _numbers(best_loss=best_loss)
    regret = cams_adversarial_regret(horizon, num_extended, num_classes, rho, rounds)
    t, c = _numbers(rounds=horizon if rounds is None else rounds, num_classes=num_classes)
    return _queries_from_loss(t, regret + best_loss, c)


# Our own: exponential weights with the evidence rate and a consensus prior. Proofs in docs/cams-plus.md.


def evidence_regret(
    num_extended: int, evidence: float, *, prior: float = 0.0, disagreements: int = 1, drift: float | None = None
) -> float:
    """(ln m + K + 2 K ln R) sqrt(V / ln m) + (sqrt(2 ln m) + 2 + sqrt(2)) sqrt(V), on any stream and any coins.

    The regret is of the estimated losses: sum over t of <q_t, ltilde_t> less the least sum of ltilde_{t,i}. V
    (`evidence`, taken as at least 1) is the sum of 1/z^2 over all labels bought; K (`prior`) the strength of the prior,
    R (`disagreements`) the rounds on which models disagreed, 1 for a prior that does not move. Where it is known how
    the prior faded, `drift`, the sum of 2 K_t / R_t over the rounds that moved it, stands for 2 K ln R. Over coins and
    draws, with E[V] for V, it bounds the expected regret of a learner that draws its policy and then its model
    (`recommend=sample_policy`) on the rounds on which it may still buy.
    """
    num_extended, evidence, prior, disagreements = _numbers(
        num_extended=num_extended, evidence=evidence, prior=prior, disagreements=disagreements
    )
    if drift is not None:
        (drift,) = _numbers(drift=drift)
    _require(num_extended >= 2, f"num_extended is {num_extended}, expected at least 2")
    _require(evidence >= 0, f"evidence is {evidence}, expected at least 0")
    _require(prior >= 0, f"prior is {prior}, expected at least 0")
    _require(disagreements >= 1, f"disagreements is {disagreements}, expected at least 1")
    _require(drift is None or drift >= 0, f"drift is {drift}, expected at least 0")
    log_m, root = log(num_extended), sqrt(max(1.0, evidence))
    of_prior = log_m + prior + (2 * prior * log(disagreements) if drift is None else drift)
    return of_prior * root / sqrt(log_m) + (sqrt(2 * log_m) + 2 + sqrt(2)) * root


def expected_evidence(horizon: float) -> float:
    """2/3 (T + 1)^(3/2), at least E[V] of a learner that asks with z_t >= 1/sqrt(t) where models disagree."""
    (horizon,) = _numbers(horizon=horizon)
    _require_horizon(horizon)
    return float(2 / 3 * (horizon + 1) ** 1.5)


def evidence_regret_in_hindsight(num_extended: int, evidence: float) -> float:
    """sqrt(m E[V]): what to add to `evidence_regret` where a stream reacts to the learner and regret is against the
    policy that turns out best. On a stream fixed in advance nothing is added."""
    num_extended, evidence = _numbers(num_extended=num_extended, evidence=evidence)
    _require(num_extended >= 2, f"num_extended is {num_extended}, expected at least 2")
    _require(evidence >= 0, f"evidence is {evidence}, expected at least 0")
    return sqrt(num_extended * max(1.0, evidence))


def evidence_stochastic_regret(
    regret: float, gap: float, margin: float, *, prior: float = 0.0, disagreements: int = 1
) -> float:
    """(1 + gamma) / (gamma Delta) (B + K (1 + ln R)), in expectation, for a learner that names its mixture's argmax.

    Assumes i.i.d. instances; B is `evidence_regret` with E[V], Delta (`gap`) by how much every other policy's drawn
    loss <pi_i, l> exceeds the best one's in expectation, gamma (`margin`) as in Theorem 1, K and R as in
    `evidence_regret`. The regret is against the best policy by its most probable model.
    """
    regret, gap, margin, prior, disagreements = _numbers(
        regret=regret, gap=gap, margin=margin, prior=prior, disagreements=disagreements
    )
    _require(gap > 0, f"gap is {gap}, expected a positive number: the best policy is assumed to be single")
    _require(0 < margin <= 1, f"margin is {margin}, expected in (0, 1]: the best policy may not have ties")
    _require(prior >= 0, f"prior is {prior}, expected at least 0")
    _require(disagreements >= 1, f"disagreements is {disagreements}, expected at least 1")
    return (1 + margin) / (margin * gap) * (regret + prior * (1 + log(disagreements)))


def evidence_queries(horizon: float, num_classes: int, regret: float, best_loss: float) -> float:
    """2 sqrt(T) + (B + L*) (log_c T + 1) / c, as Theorem 4: its last line asks only how much the learner loses. B is
    `evidence_regret`, L* the expected loss of the best policy."""
    horizon, num_classes, regret, best_loss = _numbers(
        horizon=horizon, num_classes=num_classes, regret=regret, best_loss=best_loss
    )
    _require_horizon(horizon)
    _require(num_classes >= 2, f"num_classes is {num_classes}, expected at least 2")
    return _queries_from_loss(horizon, regret + best_loss, num_classes)
