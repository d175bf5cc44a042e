"""Contextual active model selection: which pre-trained model to trust for each instance, with few labels."""

from cams.bundle import Bundle
from cams.errors import InputError
from cams.learners import LEARNERS, make_learner

__all__ = ["LEARNERS", "Bundle", "InputError", "make_learner"]
__version__ = "0.1.0"
