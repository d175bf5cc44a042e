"""What all tests share: how many cases hypothesis tries (tests/fuzzing.py), and with what several workers start."""

import locale
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import tests.fuzzing  # noqa: F401  (registers the profiles)

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

HERE = Path(__file__).parent


# What needs no compiled engine, or compiles a copy of its own; the longest first, or it would be all that is left.
FIRST = ("test_add_a_data_set.py", "data_prep")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one of two workers compile the engine while the other, which begins at the middle, does without it."""
    library = [item for item in items if _room(item) == "cams"]
    others = [item for item in items if _room(item) != "cams"]
    others.sort(key=lambda item: FIRST.index(_room(item)) if _room(item) in FIRST else len(FIRST))
    first = len(items) // 2
    items[:] = library[:first] + others + library[first:]


@pytest.fixture
def plain_ascii() -> Iterator[None]:
    """A machine that writes and reads text in ASCII where nobody says otherwise."""
    before = locale.setlocale(locale.LC_CTYPE)
    locale.setlocale(locale.LC_CTYPE, "C")
    yield
    locale.setlocale(locale.LC_CTYPE, before)


def _room(item: pytest.Item) -> str:
    return item.path.relative_to(HERE).parts[0]
