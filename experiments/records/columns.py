"""The columns of a record, one row per value, and the kinds of series in it.

| column      | meaning                                                                                |
|-------------|----------------------------------------------------------------------------------------|
| case        | label of the case (how the bundle was prepared), empty if the experiment has only one   |
| series      | learner label, classifier name or policy name                                          |
| kind        | learner, classifier, best_classifier, oracle_drawn, or a policy's kind                  |
| budget      | labels the learner may buy; 0 for all that are no learners                             |
| realization | 0..R-1                                                                                 |
| round       | t at which the values hold; the horizon for final values                               |
| loss        | errors so far                                                                          |
| queries     | labels bought so far                                                                   |

`best_classifier` is the classifier with the least final loss on that realization (the reference of the relative loss),
`oracle_drawn` the policy with the least expected loss, charged that loss. An experiment that computes in its own way
may add columns.
"""

from __future__ import annotations

COLUMNS = ("case", "series", "kind", "budget", "realization", "round", "loss", "queries")

LEARNER, CLASSIFIER, BEST_CLASSIFIER, ORACLE_DRAWN = "learner", "classifier", "best_classifier", "oracle_drawn"
TRAINED_KINDS = ("normal", "biased")
BAD_KINDS = ("malicious", "random")
POLICY_KINDS = (*TRAINED_KINDS, *BAD_KINDS)
