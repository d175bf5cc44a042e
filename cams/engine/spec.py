"""What tells the compiled engine which learner to be: a few codes and constants.

The codes are plain integers because compiled code branches on them; the names say what they mean.
"""

from __future__ import annotations

from typing import NamedTuple

# Over what losses are kept and weighed.
WEIGH_EXTENDED = 0  # policies and the k constant policies: Pi*
WEIGH_POLICIES = 1  # policies alone: Pi
WEIGH_MODELS = 2  # the k models alone

# How the learning rate falls with t, or with the evidence in its place.
RATE_ANYTIME = 0  # rate * sqrt(ln size / t)
RATE_BANDIT = 1  # rate * sqrt(ln size / (k t))
RATE_ADVERSARIAL_PROOF = 2  # needs T; rho from the largest class mass so far
RATE_ADVERSARIAL_LABEL = 3  # needs T; rho from the mass of the labels bought so far

# How much a label is wanted.
QUERY_ENTROPY = 0
QUERY_VARIANCE = 1
QUERY_CONSTANT = 2
QUERY_VOTES = 3
QUERY_SURVIVORS = 4

# Which model is named.
RECOMMEND_MIXTURE = 0  # argmax w
RECOMMEND_BEST_POLICY = 1  # i = argmax q, j = argmax pi_i
RECOMMEND_RANDOM_POLICY = 2  # i ~ q, j = argmax pi_i
RECOMMEND_SAMPLE_POLICY = 3  # i ~ q, j ~ pi_i
RECOMMEND_SAMPLE_MODEL = 4  # j ~ w
RECOMMEND_LEADER = 5  # fewest losses on bought labels
RECOMMEND_CONTEXTUAL_LEADER = 6  # argmax r * (q . pi)

# What a bought label shows.
FEEDBACK_FULL = 0  # every model's loss
FEEDBACK_BANDIT = 1  # only the loss of the model that was named

# A tile: as many mixtures by as many models are added up in registers. With more the compiler would use memory.
TILE_SLOTS = 4
TILE_MODELS = 16

# Advice that gives models with an answer no more than this in all has nothing to say to them. Weights are divided by
# what it gives them, also in single precision, which ends at 1e38.
FAINT = 1e-30


class KernelSpec(NamedTuple):
    """One learner, as the compiled engine sees it."""

    weigh: int
    rate_kind: int
    rate: float  # factor on the learning rate
    query: int
    query_a: float
    query_b: float
    recommend: int
    feedback: int = FEEDBACK_FULL
    by_evidence: bool = False  # the rate falls with the evidence V instead of with t
    prior: float = 0.0  # K, the strength of the consensus prior; 0 is none
    fade: float = 1.0  # s0, the labels after which the prior has half its strength
    shared_votes: bool = True  # classifiers that answer alike share their vote
    regularize: bool = False  # read before the kernel starts, which gets advice as it is to be used
    scaled: bool = False
    shortcuts: bool = True  # without them spent budgets are played in full, which tests compare with
