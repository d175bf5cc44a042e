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
def hear(
    weighed: int, votes: Array, pi: Array, on: float, off: float, even: Array, answering: Array, reach: Array
) -> None:
    """Write who answers as 0 and 1 (k,), the same made to sum to 1, and reach (m,) if not all answer."""
    count = count_answers(votes)
    share = 1.0 / count
    for j in range(votes.size):
        answering[j] = 1.0 if votes[j] >= 0 else 0.0
        even[j] = share * answering[j]
    if count == votes.size:
        return
    for i in range(reach.size):
        reach[i] = 0.0
    add_expected(weighed, pi, on, off, answering, reach)


@compiled
def mix_answers(
    pi: Array, q: Array, total: float, weighed: int, on: float, off: float, reach: Array, even: Array, heard: Array,
    w: Array,
) -> None:  # fmt: skip
    """As `mix`, over the models that answer; heard (m,) is work space."""
    unsaid = share_out(q, reach, heard)
    mix(pi, heard, total, weighed, on, off, w)
    keep_answers(even, unsaid / total, w)


@compiled
def share_out(q: Array, reach: Array, heard: Array) -> float:
    """Write weights q (m,) over reach to heard, and return the weight of policies that reach nobody who answers."""
    unsaid = 0.0
    for i in range(q.size):
        is_heard = reach[i] > FAINT
        unsaid += 0.0 if is_heard else q[i]
        heard[i] = q[i] / reach[i] if is_heard else 0.0
    return unsaid


@compiled
def keep_answers(even: Array, unsaid: float, w: Array) -> None:
    """Take from w (k,) what models without an answer have, and give `unsaid` evenly to the others."""
    for j in range(w.size):
        w[j] = w[j] + unsaid * even[j] if even[j] > 0 else 0.0


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
