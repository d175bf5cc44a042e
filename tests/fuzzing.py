"""How many cases hypothesis tries: the same few hundred in every `make test`, new thousands in `make fuzz`.

    @examples(200)
    @given(...)
    def test_...

tries 200 cases in the profile `quick` and 30 times as many with HYPOTHESIS_PROFILE=nightly.
"""

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

QUICK, NIGHTLY = 100, 3000

# A case that reads and writes files is slow now and then, and a fixture's folder may serve all cases.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=QUICK, derandomize=True, database=None, **COMMON)
settings.register_profile("nightly", max_examples=NIGHTLY, print_blob=True, **COMMON)


def examples(quick: int) -> settings:
    """Settings for a test that tries this many cases in the profile `quick`, more of them in `nightly`."""
    return settings(max_examples=quick * settings.default.max_examples // QUICK)


# What nobody means in a configuration, and now and then somebody does.
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**70),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(-1, 3), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
Place = tuple[Any, ...]


def places(node: Any, without: tuple[str, ...] = (), path: Place = ()) -> list[Place]:
    """Return the path of every entry of a configuration, however deep, but for what is under the keys `without`."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    inner = [(*path, key) for key, _ in entries if key not in without]
    return inner + [deeper for place in inner for deeper in places(node[place[-1]], without, place)]


def holder(node: Any, place: Place) -> Any:
    """Return the container that holds the entry at a place."""
    for key in place[:-1]:
        node = node[key]
    return node


def misspell(node: Any, place: Place, at: int) -> str | None:
    """Leave a letter out of the key at a place, and return what it is called now; None if that is nothing, or taken."""
    entries, key = holder(node, place), place[-1]
    at %= len(key)
    misspelt: str = key[:at] + key[at + 1 :]
    if not misspelt or misspelt in entries:
        return None
    entries[misspelt] = entries.pop(key)
    return misspelt
