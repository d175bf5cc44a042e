"""Contextual active model selection: which pre-trained model to trust for each instance, with few labels."""

from cams.bundle import Bundle
from cams.errors import InputError
from cams.learners import LEARNERS, make_learner
from cams.online import Decision, Selector
from cams.realizations import Replay, replay
from cams.rounds import Played, play

__all__ = [
    "LEARNERS",
    "Bundle",
    "Decision",
    "InputError",
    "Played",
    "Replay",
    "Selector",
    "make_learner",
    "play",
    "replay",
]
__version__ = "0.1.0"
