"""Contextual active model selection: which pre-trained model to trust for each instance, with few labels."""

from cams.bundle import Bundle
from cams.confidence import Confidence, confidence_advice
from cams.errors import InputError
from cams.learners import LEARNERS, make_learner
from cams.online import Decision, Selector
from cams.outcome import Replay
from cams.realizations import replay
from cams.rounds import Played, play
from cams.router import Router
from cams.stored import StoredBundle

__all__ = [
    "LEARNERS",
    "Bundle",
    "Confidence",
    "Decision",
    "InputError",
    "Played",
    "Replay",
    "Router",
    "Selector",
    "StoredBundle",
    "confidence_advice",
    "make_learner",
    "play",
    "replay",
]
__version__ = "0.1.0"
