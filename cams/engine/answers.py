"""Rounds on which some models have no answer (a class number below 0): the rule of `among_answers`, compiled.

Nothing is copied and masked. What a policy gives to the models that answer is its reach; dividing its weight by that,
and leaving out the others afterwards, is the same as making its advice a distribution over those that answer.
"""

from __future__ import annotations

import numpy as np

from cams.engine.arithmetic import add_expected, mix
from cams.engine.compiled import Array, compiled
from cams.engine.spec import FAINT


@compiled
def first_answer(votes: Array) -> int:
    """Return the label that the first model with an answer predicts."""
    for j in range(votes.size):
        if votes[j] >= 0:
            return int(votes[j])
    return -1


@compiled
def count_answers(votes: Array) -> int:
    count = 0
    for j in range(votes.size):
        count += votes[j] >= 0
    return count


@compiled
def hear(weighed: int, votes: Array, pi: Array, on: float, off: float, even: Array, reach: Array) -> None:
    """Write weights (k,) that all models with an answer share evenly, and reach (m,) if not all have one."""
    count = count_answers(votes)
    for j in range(votes.size):
        even[j] = 1.0 / count if votes[j] >= 0 else 0.0
    if count == votes.size:
        return
    for i in range(reach.size):
        reach[i] = 0.0
    add_expected(weighed, pi, on, off, even, reach)
    for i in range(reach.size):
        reach[i] *= count


@compiled
def mix_answers(
    pi: Array, q: Array, total: float, weighed: int, on: float, off: float, reach: Array, even: Array, heard: Array,
    w: Array,
) -> None:  # fmt: skip
    """As `mix`, over the models that answer; heard (m,) is work space."""
    unsaid = 0.0
    for i in range(q.size):
        is_heard = reach[i] > FAINT
        heard[i] = q[i] / reach[i] if is_heard else 0.0
        unsaid += 0.0 if is_heard else q[i]
    mix(pi, heard, total, weighed, on, off, w)
    # Those who reach nobody that answers trust all of these evenly.
    for j in range(w.size):
        w[j] = w[j] + unsaid / total * even[j] if even[j] > 0 else 0.0


@compiled
def keep_advice_to_answers(votes: Array, advice: Array) -> None:
    """Leave of one policy's advice (k,) what it gives to models that answer; all alike where that is nothing."""
    reach = 0.0
    for j in range(votes.size):
        reach += advice[j] if votes[j] >= 0 else 0.0
    for j in range(votes.size):
        said = advice[j] if reach > FAINT else 1.0
        advice[j] = said if votes[j] >= 0 else 0.0


@compiled
def silence(votes: Array, scores: Array) -> None:
    """Let no model win by its score (k,) that has no answer."""
    for j in range(votes.size):
        if votes[j] < 0:
            scores[j] = -np.inf
