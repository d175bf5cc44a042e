"""How many cases hypothesis tries: the same few hundred in every `make test`, new thousands in `make fuzz`.

    @examples(200)
    @given(...)
    def test_...

tries 200 cases in the profile `quick` and 30 times as many with HYPOTHESIS_PROFILE=nightly.
"""

from hypothesis import HealthCheck, settings

QUICK, NIGHTLY = 100, 3000

# A case that reads and writes files is slow now and then, and a fixture's folder may serve all cases.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=QUICK, derandomize=True, database=None, **COMMON)
settings.register_profile("nightly", max_examples=NIGHTLY, print_blob=True, **COMMON)


def examples(quick: int) -> settings:
    """Settings for a test that tries this many cases in the profile `quick`, more of them in `nightly`."""
    return settings(max_examples=quick * settings.default.max_examples // QUICK)
