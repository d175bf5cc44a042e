"""What all tests share: the profile that says how many cases hypothesis tries (tests/fuzzing.py)."""

import os

from hypothesis import settings

import tests.fuzzing  # noqa: F401  (registers the profiles)

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
