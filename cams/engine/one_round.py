"""One round of one learner, compiled, for the online selector: is the instance sound, and which model is named."""

from __future__ import annotations

from cams.engine.compiled import Array, compiled_in_order

SOUND = 0
NORMALISED = 1  # sound after division by the sums
BAD_PREDICTION = 2
BAD_ADVICE = 3


# In order, because what comes in may be NaN, and everything else here is compiled as if nothing were.
@compiled_in_order
def take_in(given: Array, num_classes: int, votes: Array, pi: Array, exact: float, tolerance: float) -> int:
    """Check one instance: write its class numbers (k,) to votes, make every row of pi (n, k) sum to 1 in place.

    Rows off by no more than `exact` stay as they are; one off by more than `tolerance` is wrong, not rounded.
    """
    for j in range(given.size):
        if not 0 <= given[j] < num_classes:
            return BAD_PREDICTION
        votes[j] = given[j]
    n, k = pi.shape
    all_exact = True
    for i in range(n):
        total, least = 0.0, 0.0
        for j in range(k):
            total += pi[i, j]
            least = min(least, pi[i, j])
        # Written so that NaN fails.
        if not (abs(total - 1.0) <= tolerance and least >= 0.0):
            return BAD_ADVICE
        all_exact = all_exact and abs(total - 1.0) <= exact
    if all_exact:
        return SOUND
    for i in range(n):
        total = 0.0
        for j in range(k):
            total += pi[i, j]
        for j in range(k):
            pi[i, j] /= total
    return NORMALISED
