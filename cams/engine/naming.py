"""The recommendation rules of `cams.learners`, compiled: which model a slot names."""

from __future__ import annotations

from cams.engine import spec
from cams.engine.answers import keep_advice_to_answers, silence
from cams.engine.arithmetic import draw, pick_tied
from cams.engine.compiled import Array, compiled, compiled_inline
from cams.engine.spec import KernelSpec
from cams.engine.state import Scratch, State, Stream, Turn, some_abstain
from cams.randomness import MODEL, POLICY, TIE


@compiled
def names_policy(learner: KernelSpec) -> bool:
    """Say whether a policy is chosen first, and then the model it advises."""
    return (
        learner.recommend == spec.RECOMMEND_BEST_POLICY
        or learner.recommend == spec.RECOMMEND_RANDOM_POLICY
        or learner.recommend == spec.RECOMMEND_SAMPLE_POLICY
    )


@compiled_inline
def model_of_policy(learner: KernelSpec, stream: Stream, work: Scratch, turn: Turn, i: int) -> int:
    """Return the model that policy i advises: its favourite, or one drawn."""
    advice = work.scores
    n = 0 if learner.weigh == spec.WEIGH_MODELS else turn.pi.shape[0]
    if i < n:
        for j in range(advice.size):
            advice[j] = turn.pi[i, j]
    else:
        advice[:] = stream.off
        advice[i - n] = stream.on
    if some_abstain(turn):
        keep_advice_to_answers(turn.votes, advice)
    if learner.recommend == spec.RECOMMEND_SAMPLE_POLICY:
        return draw(advice, turn.uniforms[MODEL])
    return pick_tied(advice, turn.uniforms[TIE])


@compiled
def _contextual_scores(rewards: Array, w: Array, has_policies: bool, scores: Array) -> None:
    """Write r * w, r the normalised rewards, uniform while there are none; r alone where there are no policies."""
    total = 0.0
    for j in range(rewards.size):
        total += rewards[j]
    for j in range(rewards.size):
        r = rewards[j] / total if total > 0 else 1.0 / rewards.size
        scores[j] = r * w[j] if has_policies else r


@compiled_inline
def name_model(learner: KernelSpec, stream: Stream, state: State, work: Scratch, turn: Turn, slot: int) -> int:
    """Return a slot's model of this round, from its weights q and mixture w where it has any."""
    u = turn.uniforms
    if learner.recommend == spec.RECOMMEND_MIXTURE:
        return pick_tied(work.w, u[TIE])
    if learner.recommend == spec.RECOMMEND_LEADER:
        for j in range(work.scores.size):
            work.scores[j] = -state.errors[slot, j]
        if some_abstain(turn):
            silence(turn.votes, work.scores)
        return pick_tied(work.scores, u[TIE])
    if learner.recommend == spec.RECOMMEND_CONTEXTUAL_LEADER:
        _contextual_scores(state.rewards[slot], work.w, turn.pi.shape[0] > 0, work.scores)
        if some_abstain(turn):
            silence(turn.votes, work.scores)
        return pick_tied(work.scores, u[TIE])
    if learner.recommend == spec.RECOMMEND_SAMPLE_MODEL:
        return draw(work.w, u[MODEL])
    best = learner.recommend == spec.RECOMMEND_BEST_POLICY
    i = pick_tied(work.q, u[POLICY]) if best else draw(work.q, u[POLICY])
    return model_of_policy(learner, stream, work, turn, i)
