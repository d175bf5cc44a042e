"""A small bundle with the structure of the real ones: specialists, informed policies and their bad kin."""

from __future__ import annotations

import numpy as np

import cams
from cams.policies import opposite, random_advice, sharpen

ROWS, MODELS, CLASSES = 200, 5, 3
SHARPNESS = 8.0


def make_bundle(seed: int = 0) -> cams.Bundle:
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLASSES, size=ROWS)
    # Model j knows the classes j and j + 1 well and guesses at the third.
    skill = np.where((labels[:, None] - np.arange(MODELS)) % CLASSES < 2, 0.9, 0.35)
    guesses = rng.integers(CLASSES, size=(ROWS, MODELS))
    predictions = np.where(rng.random((ROWS, MODELS)) < skill, labels[:, None], guesses)
    right = (predictions == labels[:, None]).astype(float)
    rewards = [np.clip(right + rng.normal(0, noise, right.shape), 0, 1) for noise in (0.5, 0.7, 0.9)]
    advice = [sharpen(reward, SHARPNESS) for reward in rewards]
    advice += [opposite(reward, SHARPNESS) for reward in rewards[:2]]
    advice.append(random_advice(ROWS, MODELS, seed))
    kinds = ["normal", "normal", "biased", "malicious", "malicious", "random"]
    return cams.Bundle(
        predictions=predictions,
        labels=labels,
        advice=np.stack(advice, axis=1),
        num_classes=CLASSES,
        model_names=[f"specialist {j}" for j in range(MODELS)],
        policy_names=[f"{kind} {i}" for i, kind in enumerate(kinds)],
        policy_kinds=kinds,
    )
