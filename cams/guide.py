"""What each learner is and when to use it, one or two sentences each."""

from __future__ import annotations

ABOUT: dict[str, str] = {
    "cams": (
        "The paper's learner: exponential weights over policies and single models, labels bought where the "
        "weighted models disagree. The one to start with."
    ),
    "cams_evidence": (
        "CAMS whose rate falls with the labels bought, not with the rounds passed: nothing drifts once the budget "
        "is gone. For small budgets on long streams."
    ),
    "cams_plus": (
        "The evidence rate and a prior from the models' own agreement that fades as labels come. For when the "
        "first answers must be good and labels are very few; weak where most models are wrong in the same way."
    ),
    "cams_max": (
        "CAMS that follows the single heaviest policy. For an answer that one named policy must stand behind."
    ),
    "cams_random_policy": (
        "CAMS that draws a policy from its weights and follows it. A reference of the paper, seldom best."
    ),
    "cams_conventional": ("CAMS without the single models among its policies. Only where all policies can be trusted."),
    "cams_nonactive": (
        "CAMS that asks for every label while the budget lasts. For free labels, and as an upper reference."
    ),
    "cams_variance": ("CAMS with Model Picker's rule for buying labels, which buys more of them."),
    "cams_random_query": ("CAMS that buys labels at random, budget over horizon. A reference; needs the horizon."),
    "cams_context_free": ("CAMS over the single models alone. For when there are no policies at all."),
    "cams_adversarial": (
        "CAMS for streams that an adversary may order: it draws its model and needs the horizon. For guarantees "
        "on any order; on ordinary streams it pays for them."
    ),
    "mp": (
        "Model Picker: exponential weights over single models, no context. The best of the paper's rivals without "
        "policies."
    ),
    "rs": (
        "Labels at random, then the model with the fewest mistakes on them. The simplest baseline; needs the horizon."
    ),
    "qbc": ("Query by committee: labels where the votes are split, then the model with the fewest mistakes."),
    "iwal": ("Importance weighted active learning: labels while surviving models disagree, then the fewest mistakes."),
    "cqbc": ("Query by committee that weighs models by what the policies say. Strong with many labels."),
    "ciwal": (
        "Importance weighted active learning that weighs models by what the policies say. Strong with many labels."
    ),
    "oracle": (
        "The best single policy or model, known only in hindsight: a reference for replays, never for a live stream."
    ),
    "hedge": ("Exponential weights over single models with every label. The classic anchor with full information."),
    "exp3": ("A bandit over single models: sees only the loss of the model it named. An anchor."),
    "exp4": ("A bandit over policies: sees only the loss of the model it named. An anchor with context."),
}
