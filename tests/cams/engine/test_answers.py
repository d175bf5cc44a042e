"""Mixtures and favourites among the models that answer, against the readable `among_answers`."""

import numpy as np
import pytest

from cams.engine import spec
from cams.engine.answers import hear, keep_advice_to_answers, mix_answers
from cams.learners.base import among_answers

PI = np.array(
    [[0.5, 0.25, 0.125, 0.125], [0, 1, 0, 0], [0.25, 0.75, 0, 0], [0, 1, 0, 0], [1e-32, 1, 1e-33, 0]], dtype=np.float32
)
VOTES = [[1, -1, 0, 0], [0, -1, -1, 2], [-1, -1, 0, -1], [-1, 0, 1, 1]]


@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize("weighed", [spec.WEIGH_EXTENDED, spec.WEIGH_POLICIES, spec.WEIGH_MODELS])
def test_a_mixture_over_those_who_answer(weighed: int, votes: list[int]) -> None:
    k, on, off = PI.shape[1], 0.7, 0.1
    constants, answers = (on - off) * np.eye(k) + off, np.array(votes, dtype=np.int32)
    kinds = {spec.WEIGH_EXTENDED: [PI, constants], spec.WEIGH_POLICIES: [PI], spec.WEIGH_MODELS: [constants]}
    policies = np.concatenate(kinds[weighed]).astype(float)
    m = len(policies)
    q, even, reach, heard, w = np.arange(1.0, m + 1), np.full(k, 9.0), np.full(m, 9.0), np.zeros(m), np.zeros(k)
    hear(weighed, answers, PI, on, off, even, reach)
    mix_answers(PI, q, q.sum(), weighed, on, off, reach, even, heard, w)
    np.testing.assert_allclose(even, (answers >= 0) / (answers >= 0).sum())
    np.testing.assert_allclose(w, q / q.sum() @ among_answers(policies, answers), rtol=1e-12)


@pytest.mark.parametrize("votes", VOTES)
def test_one_policy_is_kept_to_those_who_answer(votes: list[int]) -> None:
    answers = np.array(votes, dtype=np.int32)
    for expected, row in zip(among_answers(PI.astype(float), answers), PI, strict=True):
        advice = row.astype(float)
        keep_advice_to_answers(answers, advice)
        np.testing.assert_allclose(advice / advice.sum(), expected, rtol=1e-12)
