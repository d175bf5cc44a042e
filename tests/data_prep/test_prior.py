"""The grid of the consensus prior on held-out rows, and the rule that chooses from it."""

import numpy as np

from cams import Bundle
from data_prep.prior import chosen, relative_losses
from tests.data_prep.conftest import context_for


def test_of_nearly_equal_pairs_the_weakest_prior_is_chosen():
    one = {"1": {"3": 1.0, "30": 0.9}, "5": {"3": 0.8, "30": 0.801}, "20": {"3": 0.799, "30": 0.7}}
    other = {"1": {"3": 1.0, "30": 0.9}, "5": {"3": 0.8, "30": 0.801}, "20": {"3": 0.799, "30": 1.5}}
    assert chosen([one, other]) == (5.0, 3.0)


def test_every_pair_of_the_grid_is_replayed(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    predictions = np.where(rng.random((60, 3)) < 0.6, labels[:, None], rng.integers(0, 3, (60, 3)))
    bundle = Bundle(predictions=predictions, labels=labels, advice=rng.dirichlet(np.ones(3), (60, 4)))
    found = relative_losses(
        bundle, context_for("drift", tmp_path, "prior_check.realizations=3", "prior_check.fades=[3,30]")
    )
    assert list(found) == ["1", "2", "5", "10", "20"]
    assert all(list(by_fade) == ["3", "30"] and min(by_fade.values()) > 0 for by_fade in found.values())
