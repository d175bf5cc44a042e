"""What every single policy and every single model would have lost on a realization."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cams.engine.answers import keep_advice_to_answers
from cams.engine.arithmetic import copy_row, pick_tied, tie_bar
from cams.engine.compiled import Array, compiled, compiled_inline
from cams.engine.instructions import larger
from cams.engine.spec import FAINT
from cams.engine.state import Stream
from cams.randomness import TIE

# Of a policy at a row, beside 0 (its favourite model is right there) and 1 (wrong): favourites of both kinds tie.
_TIED = -1
_UNKNOWN = -2


class Count(NamedTuple):
    """Mistakes of one realization so far: by policy (n,), by model (k,), by who follows one model alone (k,).

    Who follows a model that has no answer names another, and may be right where the model is not. `recorded` (1,) says
    how many rounds of the grid are written. The rest is work space: who is wrong and who is right (k,), in the advice's
    own precision, and scores (k,). A model without an answer is neither.
    """

    by_policy: Array
    by_model: Array
    by_follower: Array
    recorded: Array
    misses: Array
    hits: Array
    scores: Array


def new_count(n: int, k: int, precision: npt.DTypeLike) -> Count:
    by_policy, by_model, by_follower, recorded = (np.zeros(size, dtype=np.int64) for size in (n, k, k, 1))
    misses, hits = np.zeros(k, dtype=precision), np.zeros(k, dtype=precision)
    return Count(by_policy, by_model, by_follower, recorded, misses, hits, np.zeros(k))


def unknown_verdicts(num_rows: int, n: int) -> npt.NDArray[np.int8]:
    """Return (N, n), whether each policy's favourite is wrong at each row, of which nothing is known yet."""
    return np.full((num_rows, n), _UNKNOWN, dtype=np.int8)


@compiled
def _verdict(pi: Array, misses: Array) -> int:
    """Return 1 if the favourite model of the advice pi (k,) is one of those that miss, 0 if not, -1 if they tie."""
    right, wrong = pi.dtype.type(0), pi.dtype.type(0)
    for j in range(pi.size):
        if_wrong = pi[j] * misses[j]
        wrong = larger(wrong, if_wrong)
        right = larger(right, pi[j] - if_wrong)
    # In the advice's own type, for speed: single precision has no number between the bar and the top.
    bar = pi.dtype.type(tie_bar(larger(right, wrong)))
    if right >= bar and wrong >= bar:
        return _TIED
    return int(wrong > right)


@compiled
def _verdict_among_answers(pi: Array, misses: Array, hits: Array) -> int:
    """As `_verdict`, where some models neither miss nor hit, for they have no answer.

    It is -1 if favourites of both kinds tie, or if next to nothing is given to either.
    """
    right, wrong = pi.dtype.type(0), pi.dtype.type(0)
    for j in range(pi.size):
        wrong = larger(wrong, pi[j] * misses[j])
        right = larger(right, pi[j] * hits[j])
    top = larger(right, wrong)
    bar = pi.dtype.type(tie_bar(top))
    if top <= FAINT or (right >= bar and wrong >= bar):
        return _TIED
    return int(wrong > right)


@compiled
def _pick(advice: Array, votes: Array, uniform: float, scores: Array) -> int:
    """Return the model that advice (k,) favours among those that answer; scores (k,) keep what it gives them."""
    copy_row(advice, scores)
    keep_advice_to_answers(votes, scores)
    return pick_tied(scores, uniform)


@compiled_inline
def _leave_out_silent(votes: Array, label: int, count: Count) -> None:
    """Let models without an answer neither miss nor hit."""
    for j in range(votes.size):
        count.hits[j] = votes[j] == label
        if votes[j] < 0:
            count.misses[j] = 0.0


@compiled_inline
def _verdict_at(stream: Stream, row: int, i: int, count: Count) -> int:
    advice = stream.advice[row, i]
    return _verdict_among_answers(advice, count.misses, count.hits) if stream.gaps else _verdict(advice, count.misses)


@compiled_inline
def _count_followers(stream: Stream, row: int, uniform: float, count: Count) -> None:
    votes, label, scores = stream.predictions[row], stream.labels[row], count.scores
    for j in range(votes.size):
        scores[j] = 0.0
    instead = votes[_pick(scores, votes, uniform, scores)] != label
    for j in range(votes.size):
        count.by_follower[j] += votes[j] != label if votes[j] >= 0 else instead


@compiled
def count_losses(
    stream: Stream,
    verdicts: Array,
    grid: Array,
    policy_losses: Array,
    model_losses: Array,
    follower_losses: Array,
    count: Count,
    first: int,
    last: int,
) -> None:
    """Count mistakes from round first to before last of a stream, and write those at rounds of grid (G,) down.

    policy_losses is (G, n), the others are (G, k); without gaps followers lose what models lose, and are not counted.
    verdicts (N, n) are found when first needed, and kept for other realizations of the same rows.
    """
    for step in range(first, last):
        row, uniform = stream.rows[step], stream.uniforms[step, TIE]
        votes, label, known = stream.predictions[row], stream.labels[row], verdicts[row]
        for j in range(votes.size):
            count.misses[j] = votes[j] != label
            count.by_model[j] += votes[j] != label
        if stream.gaps:
            _leave_out_silent(votes, label, count)
        for i in range(known.size):
            if known[i] == _UNKNOWN:
                known[i] = _verdict_at(stream, row, i, count)
            if known[i] == _TIED:
                count.by_policy[i] += votes[_pick(stream.advice[row, i], votes, uniform, count.scores)] != label
            else:
                count.by_policy[i] += known[i]
        if stream.gaps:
            _count_followers(stream, row, uniform, count)
        place = count.recorded[0]
        if place < grid.size and grid[place] == stream.before + step + 1:
            copy_row(count.by_policy, policy_losses[place])
            copy_row(count.by_model, model_losses[place])
            if stream.gaps:
                copy_row(count.by_follower, follower_losses[place])
            count.recorded[0] += 1
