"""What one realization is played on: the stream, what a learner remembers of it, and work space."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cams.engine.compiled import Array, compiled_inline, compiled_making_arrays
from cams.engine.consensus import Consensus
from cams.engine.frozen import OPEN, Frozen
from cams.engine.spec import TILE_SLOTS, KernelSpec


class Stream(NamedTuple):
    """What is played: row ids (T,), the bundle's arrays, uniforms (T, 4), and what constant policies look like.

    It may be a part of a longer stream, with rounds before and after it.
    """

    rows: Array
    predictions: Array
    labels: Array
    advice: Array
    uniforms: Array
    num_classes: int
    on: float
    off: float
    before: int = 0
    after: int = 0
    gaps: bool = False  # whether some model has no answer on some row


class Turn(NamedTuple):
    """One round of a stream, t counted from 1; `ahead` is the advice of the next.

    A vote below 0 is no answer (`cams.engine.answers`); first_answer is the first that is one, of num_answers.
    """

    t: int
    votes: Array
    pi: Array
    label: int
    uniforms: Array
    ahead: Array
    disagree: bool
    first_answer: int
    num_answers: int


class State(NamedTuple):
    """What a learner remembers, a slot per budget and one more; the last two belong to the live path alone."""

    policy_losses: Array
    errors: Array
    rewards: Array
    largest_mass: Array
    evidence: Array
    labels: Array
    mistakes: Array
    model_losses: Array
    alive: Array


class Scratch(NamedTuple):
    """Work space: weights and mixture of one slot, equal weights (even), and smaller things.

    The last two are for rounds on which some models have no answer: how much of its advice each policy gives to those
    that have one (m,), and weights over that (m,). Then `even` is theirs alone.
    """

    q: Array
    w: Array
    scores: Array
    lhat: Array
    even: Array
    mass: Array
    masses: Array
    rough_mass: Array
    rough_largest: Array
    rough_doubt: Array
    misses: Array
    verdicts: Array
    low_bits: Array
    high_bits: Array
    reach: Array
    heard: Array


class Traits(NamedTuple):
    """What the codes of a learner come to, worked out once.

    way          how spent budgets are played (`cams.engine.frozen`)
    weighs       whether there are weights at all
    mixes        whether every slot needs its mixture over models; live_mixes, whether the live one does
    own_rates    whether each slot has a rate of its own
    """

    log_size: float
    way: int
    weighs: bool
    mixes: bool
    live_mixes: bool
    own_rates: bool


class Game(NamedTuple):
    """One learner on one realization: all that its rounds share.

    progress (4,) counts labels bought, those bought early, budgets spent, and rounds recorded.
    """

    learner: KernelSpec
    traits: Traits
    stream: Stream
    state: State
    consensus: Consensus
    frozen: Frozen
    work: Scratch
    progress: Array


@compiled_inline
def total_rounds(stream: Stream) -> int:
    """Return T, the length of the stream that this one is the whole or a part of."""
    return stream.before + stream.rows.size + stream.after


@compiled_inline
def some_abstain(turn: Turn) -> bool:
    """Say whether a model has no answer on this round."""
    return turn.num_answers < turn.votes.size


@compiled_making_arrays
def new_state(slots: int, size: int, k: int) -> State:
    return State(
        np.zeros((slots, size)),
        np.zeros((slots, k)),
        np.zeros((slots, k)),
        np.zeros(slots),
        np.zeros(slots),
        np.zeros(slots),
        np.zeros(slots, dtype=np.int64),
        np.zeros(k),
        np.ones(k, dtype=np.bool_),
    )


@compiled_making_arrays
def new_scratch(slots: int, size: int, k: int, num_classes: int) -> Scratch:
    return Scratch(
        np.zeros(size),
        np.zeros(k),
        np.zeros(k),
        np.zeros(k),
        np.full(k, 1.0 / k),
        np.zeros(num_classes),
        np.zeros(k),
        np.zeros((TILE_SLOTS, num_classes), dtype=np.float32),
        np.zeros(slots + TILE_SLOTS, dtype=np.float32),
        np.zeros(slots),
        np.zeros(k, dtype=np.float32),
        np.full(slots, OPEN),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.ones(size),
        np.zeros(size),
    )
