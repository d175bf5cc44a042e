"""Contextual active model selection: which pre-trained model to trust for each instance, with few labels."""

from cams.bundle import Bundle
from cams.errors import InputError
from cams.learners import LEARNERS, make_learner
from cams.replay import Replay, replay
from cams.selector import Decision, Selector

__all__ = ["LEARNERS", "Bundle", "Decision", "InputError", "Replay", "Selector", "make_learner", "replay"]
__version__ = "0.1.0"
