"""One realization of one learner, compiled.

All budgets of a curve run in one pass. Until a budget is spent it shares the live path, whose state is the last
slot of each state array; when it is spent the live state is copied to the budget's own slot, which never learns
again but still names a model on every round, because the rate goes on falling.

The code follows `cams.learners` line by line; the tests hold the two to the same decisions.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from cams.engine import spec
from cams.engine.spec import KernelSpec
from cams.randomness import COIN, MODEL, POLICY, TIE

Array = npt.NDArray[Any]

# Sums may be reordered (that is what lets them run in vector registers); NaN and infinity keep their meaning.
_FAST = {"reassoc", "contract", "nsz"}
_compiled = njit(nogil=True, cache=True, fastmath=_FAST, error_model="numpy")

# A policy this light moves no score by a rounding error: scores sum to 1, doubles resolve 1e-16.
_NEGLIGIBLE = 1e-30
_TIE = 1e-12


@_compiled
def _weigh_losses(losses: Array, eta: float, q: Array) -> float:
    """Write exp(-eta (L_i - min L)) into q and return the sum."""
    smallest = losses[0]
    for i in range(1, losses.size):
        smallest = min(smallest, losses[i])
    total = 0.0
    for i in range(losses.size):
        q[i] = exp(-eta * (losses[i] - smallest))
        total += q[i]
    return total


@_compiled
def _add_policies(pi: Array, q: Array, w: Array) -> None:
    """Add q . pi to w (k,) for the n policies pi (n, k), four at a time so that w stays in registers longer."""
    n, k = pi.shape
    i = 0
    while i + 4 <= n:
        a, b, c, d = q[i], q[i + 1], q[i + 2], q[i + 3]
        if max(max(a, b), max(c, d)) > _NEGLIGIBLE:
            for j in range(k):
                w[j] += a * pi[i, j] + b * pi[i + 1, j] + c * pi[i + 2, j] + d * pi[i + 3, j]
        i += 4
    while i < n:
        for j in range(k):
            w[j] += q[i] * pi[i, j]
        i += 1


@_compiled
def _mix(pi: Array, q: Array, total: float, weigh: int, on: float, off: float, w: Array) -> None:
    """Write the mixture w = sum_i q_i pi_i / total over the models into w."""
    n, k = pi.shape
    first = n if weigh == spec.WEIGH_EXTENDED else 0
    if weigh == spec.WEIGH_POLICIES:
        w[:] = 0.0
    else:
        rest = 0.0
        for j in range(k):
            rest += q[first + j]
        for j in range(k):
            w[j] = (on - off) * q[first + j] + off * rest
    if weigh != spec.WEIGH_MODELS:
        _add_policies(pi, q, w)
    for j in range(k):
        w[j] /= total


@_compiled
def pick_tied(scores: Array, uniform: float) -> int:
    top = scores[0]
    for j in range(1, scores.size):
        top = max(top, scores[j])
    bar = top - _TIE * abs(top)
    count = 0
    winner = 0
    for j in range(scores.size):
        if scores[j] >= bar:
            count += 1
            winner = j
    if count > 1:
        wanted = int(uniform * count)
        for j in range(scores.size):
            if scores[j] >= bar:
                if wanted == 0:
                    return j
                wanted -= 1
    return winner


@_compiled
def _sample(probabilities: Array, uniform: float) -> int:
    total = 0.0
    for j in range(probabilities.size):
        total += probabilities[j]
    target = uniform * total
    reached = 0.0
    for j in range(probabilities.size):
        reached += probabilities[j]
        if reached > target:
            return j
    return probabilities.size - 1


@_compiled
def _advice_of(pi: Array, i: int, weigh: int, on: float, off: float, out: Array) -> None:
    """Write policy i's advice, one of pi's rows or a constant policy, into out (k,)."""
    n = 0 if weigh == spec.WEIGH_MODELS else pi.shape[0]
    if i < n:
        for j in range(out.size):
            out[j] = pi[i, j]
    else:
        out[:] = off
        out[i - n] = on


@_compiled
def _recommend(
    recommend: int, q: Array, pi: Array, w: Array, weigh: int, on: float, off: float, u: Array, scratch: Array
) -> int:
    if recommend == spec.RECOMMEND_MIXTURE:
        return pick_tied(w, u[TIE])
    if recommend == spec.RECOMMEND_SAMPLE_MODEL:
        return _sample(w, u[MODEL])
    if recommend == spec.RECOMMEND_BEST_POLICY:
        i = pick_tied(q, u[POLICY])
    else:
        i = _sample(q, u[POLICY])
    _advice_of(pi, i, weigh, on, off, scratch)
    if recommend == spec.RECOMMEND_SAMPLE_POLICY:
        return _sample(scratch, u[MODEL])
    return pick_tied(scratch, u[TIE])


@_compiled
def _contextual_scores(rewards: Array, w: Array, has_policies: bool, out: Array) -> None:
    total = 0.0
    for j in range(rewards.size):
        total += rewards[j]
    for j in range(rewards.size):
        r = rewards[j] / total if total > 0 else 1.0 / rewards.size
        out[j] = r * w[j] if has_policies else r


@_compiled
def _disagree(votes: Array) -> bool:
    for j in range(1, votes.size):  # noqa: SIM110 (compiled code has no generators)
        if votes[j] != votes[0]:
            return True
    return False


@_compiled
def _class_mass(votes: Array, w: Array, mass: Array) -> None:
    """Write p_y into mass for every class that has a vote; other entries are left as they were."""
    for j in range(votes.size):
        mass[votes[j]] = 0.0
    for j in range(votes.size):
        mass[votes[j]] += w[j]


@_compiled
def _label_mass(votes: Array, w: Array, label: int, disagree: bool) -> float:
    """Return p_y of the true label; where all agree the mixture was not computed, and it is all or nothing."""
    if not disagree:
        return 1.0 if votes[0] == label else 0.0
    total = 0.0
    for j in range(votes.size):
        if votes[j] == label:
            total += w[j]
    return total


@_compiled
def _largest_mass(votes: Array, mass: Array) -> float:
    top = 0.0
    for j in range(votes.size):
        top = max(top, mass[votes[j]])
    return top


@_compiled
def _entropy(votes: Array, mass: Array, num_classes: int) -> float:
    """E over the classes that have a vote; it empties the masses it has used, so each class counts once."""
    total = 0.0
    for j in range(votes.size):
        p = mass[votes[j]]
        mass[votes[j]] = 0.0
        loss = 1.0 - p
        if 0.0 < loss < 1.0:
            total -= loss * log(loss)
    return total / (num_classes * log(num_classes))


@_compiled
def _variance(votes: Array, mass: Array, eta: float) -> float:
    v = 0.0
    for j in range(votes.size):
        p = mass[votes[j]]
        v = max(v, p * (1.0 - p))
    return max(v, eta) if v > 0 else 0.0


@_compiled
def _vote_entropy(votes: Array, mass: Array, num_classes: int) -> float:
    k = votes.size
    for j in range(k):
        mass[votes[j]] = 0.0
    for j in range(k):
        mass[votes[j]] += 1.0 / k
    total = 0.0
    for j in range(k):
        p = mass[votes[j]]
        mass[votes[j]] = 0.0
        if p > 0:
            total -= p * log(p)
    return total / log(min(k, num_classes))


@_compiled
def _survivors_disagree(votes: Array, losses: Array, alive: Array, t: int, delta: float, slack: float) -> bool:
    """Drop models whose mean loss is too far behind, then say whether two of the rest disagree."""
    if t > 1:
        size = 0
        best = np.inf
        for j in range(votes.size):
            if alive[j]:
                size += 1
                best = min(best, losses[j] / (t - 1))
        bar = best + sqrt(slack / t * log(2.0 * t * (t + 1) * size**2 / delta))
        for j in range(votes.size):
            if losses[j] / (t - 1) > bar:
                alive[j] = False
    first = -1
    for j in range(votes.size):
        if alive[j]:
            if first < 0:
                first = votes[j]
            elif votes[j] != first:
                return True
    return False


@_compiled
def _learn(pi: Array, lhat: Array, weigh: int, on: float, off: float, losses: Array) -> None:
    """Add ltilde_i = <pi_i, lhat> to every policy's loss."""
    n, k = pi.shape
    first = 0
    if weigh != spec.WEIGH_MODELS:
        for i in range(n):
            total = 0.0
            for j in range(k):
                total += pi[i, j] * lhat[j]
            losses[i] += total
        first = n
    if weigh != spec.WEIGH_POLICIES:
        everywhere = 0.0
        for j in range(k):
            everywhere += lhat[j]
        for j in range(k):
            losses[first + j] += (on - off) * lhat[j] + off * everywhere


@_compiled
def replay_realization(
    rows: Array,
    predictions: Array,
    labels: Array,
    advice: Array,
    uniforms: Array,
    num_classes: int,
    learner: KernelSpec,
    on: float,
    off: float,
    hindsight_models: Array,
    budgets: Array,
    grid: Array,
    loss: Array,
    queries: Array,
    loss_trace: Array,
    queries_trace: Array,
) -> None:
    """Play one learner over one realization, all budgets in one pass.

    rows (T,) are the stream's row ids, uniforms (T, 4); budgets (B,) ascend; grid (G,) are the rounds to record.
    `on` and `off` are what a constant policy gives its own and each other model. hindsight_models (T,) is the
    oracle's model of each round (empty for the others). Results go to loss, queries (B,) and the traces (B, G).
    """
    horizon, k, n = rows.size, predictions.shape[1], advice.shape[1]
    num_budgets = budgets.size
    live = num_budgets
    weigh, recommend, query = learner.weigh, learner.recommend, learner.query
    size = n + k if weigh == spec.WEIGH_EXTENDED else (n if weigh == spec.WEIGH_POLICIES else k)
    leads = recommend == spec.RECOMMEND_LEADER
    contextual = recommend == spec.RECOMMEND_CONTEXTUAL_LEADER
    hindsight = recommend == spec.RECOMMEND_HINDSIGHT
    adversarial = learner.rate_kind >= spec.RATE_ADVERSARIAL_PROOF
    bandit = learner.feedback == spec.FEEDBACK_BANDIT
    weighs = not leads and not (contextual and n == 0)
    names_by_mixture = recommend == spec.RECOMMEND_MIXTURE or recommend == spec.RECOMMEND_SAMPLE_MODEL or contextual
    query_reads_mixture = query == spec.QUERY_ENTROPY or query == spec.QUERY_VARIANCE
    buys_on_agreement = query == spec.QUERY_CONSTANT

    # One slot per budget for its frozen state, and the live state behind them.
    policy_losses = np.zeros((num_budgets + 1, size))
    errors = np.zeros((num_budgets + 1, k))
    rewards = np.zeros((num_budgets + 1, k))
    largest_mass = np.zeros(num_budgets + 1)
    lost = np.zeros(num_budgets + 1, dtype=np.int64)
    model_losses = np.zeros(k)
    alive = np.ones(k, dtype=np.bool_)

    q, w, scores, lhat = np.zeros(size), np.zeros(k), np.zeros(k), np.zeros(k)
    mass = np.zeros(num_classes)
    log_size = log(size)
    c = max(2, num_classes)
    early = horizon // 10 if learner.scaled else 0
    early_labels = 0
    scale = 1.0
    frozen = 0
    spent = 0
    recorded = 0
    model = 0

    for step in range(horizon):
        t = step + 1
        while frozen < num_budgets and spent >= budgets[frozen]:
            policy_losses[frozen] = policy_losses[live]
            errors[frozen] = errors[live]
            rewards[frozen] = rewards[live]
            largest_mass[frozen] = largest_mass[live]
            lost[frozen] = lost[live]
            frozen += 1
        can_buy = frozen < num_budgets
        row = rows[step]
        votes, pi, label, u = predictions[row], advice[row], labels[row], uniforms[step]
        disagree = _disagree(votes)
        if early > 0 and t == early + 1:
            bought = max(1, early_labels)
            scale = (budgets[num_budgets - 1] - early_labels) / (horizon - early) * early / bought
        eta = 0.0
        if learner.rate_kind == spec.RATE_ANYTIME:
            eta = learner.rate * sqrt(log_size / t)
        elif learner.rate_kind == spec.RATE_BANDIT:
            eta = learner.rate * sqrt(log_size / (k * t))

        for index in range(frozen + 1):
            slot = index if index < frozen else live
            if slot == live and not can_buy:
                continue
            # Where all models agree every choice costs the same, and only rules that buy there need one.
            if not disagree and (slot != live or not (buys_on_agreement and bandit)):
                lost[slot] += votes[0] != label
                continue
            if adversarial:
                rho = max(0.0, 1.0 - largest_mass[slot])
                eta = learner.rate * sqrt(1.0 / sqrt(t) + rho / (c**2 * log(c))) * sqrt(log_size / horizon)
            total = 1.0
            needs_mixture = names_by_mixture or adversarial or (slot == live and query_reads_mixture)
            if weighs and (needs_mixture or not hindsight):
                total = _weigh_losses(policy_losses[slot], eta, q)
            if weighs and needs_mixture:
                _mix(pi, q, total, weigh, on, off, w)
            if hindsight:
                model = hindsight_models[step]
            elif leads:
                for j in range(k):
                    scores[j] = -errors[slot, j]
                model = pick_tied(scores, u[TIE])
            elif contextual:
                _contextual_scores(rewards[slot], w, n > 0, scores)
                model = pick_tied(scores, u[TIE])
            else:
                model = _recommend(recommend, q, pi, w, weigh, on, off, u, scores)
            lost[slot] += votes[model] != label
            if learner.rate_kind == spec.RATE_ADVERSARIAL_PROOF:
                _class_mass(votes, w, mass)
                largest_mass[slot] = max(largest_mass[slot], _largest_mass(votes, mass))

        if can_buy:
            z = 0.0
            if query == spec.QUERY_CONSTANT:
                z = learner.query_a
            elif query == spec.QUERY_SURVIVORS:
                # Every round counts here, for models are dropped by a bar that moves with t.
                if _survivors_disagree(votes, model_losses, alive, t, learner.query_a, learner.query_b):
                    z = 1.0
            elif disagree:
                if query == spec.QUERY_ENTROPY:
                    _class_mass(votes, w, mass)
                    z = max(learner.query_a / sqrt(t), _entropy(votes, mass, num_classes))
                elif query == spec.QUERY_VARIANCE:
                    _class_mass(votes, w, mass)
                    z = _variance(votes, mass, eta)
                else:
                    z = _vote_entropy(votes, mass, num_classes)
            z = min(1.0, z * scale)
            if u[COIN] < z:
                spent += 1
                if t <= early:
                    early_labels += 1
                if learner.rate_kind == spec.RATE_ADVERSARIAL_LABEL:
                    largest_mass[live] = max(largest_mass[live], _label_mass(votes, w, label, disagree))
                for j in range(k):
                    wrong = 1.0 if votes[j] != label else 0.0
                    lhat[j] = wrong / z
                    errors[live, j] += wrong
                    rewards[live, j] += 1.0 - wrong
                    model_losses[j] += wrong / z
                if bandit:
                    for j in range(k):
                        lhat[j] = lhat[j] / w[j] if j == model else 0.0
                if weighs:
                    _learn(pi, lhat, weigh, on, off, policy_losses[live])

        if recorded < grid.size and grid[recorded] == t:
            for b in range(num_budgets):
                loss_trace[b, recorded] = lost[b if b < frozen else live]
                queries_trace[b, recorded] = budgets[b] if b < frozen else spent
            recorded += 1

    for b in range(num_budgets):
        loss[b] = lost[b if b < frozen else live]
        queries[b] = budgets[b] if b < frozen else spent
