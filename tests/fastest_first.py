"""Which tests try a mutant: those named after its module, then the fastest; some seconds' worth is enough.

`make mutants` loads this into pytest. Most mutants fall to the first test that meets them, so the order decides how
long a run takes. A mutant said to survive has been through SECONDS of tests, or MOST of them, or all that reach it if
those are fewer. That a test fails is enough, so hypothesis looks for no simpler failure.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from functools import cache
from itertools import accumulate
from pathlib import Path
from threading import RLock

import pytest
from hypothesis import Phase, settings
from tqdm import tqdm

import tests.fuzzing  # noqa: F401  (registers the profiles)

SECONDS = float(os.environ.get("CAMS_MUTANT_SECONDS", "5"))
# What all tests reach would otherwise be tried with a thousand that take no time, and finding them takes long.
MOST = 300
MEASURED = "mutmut-stats.json"

settings.register_profile("mutants", settings.get_profile("quick"), phases=[Phase.explicit, Phase.generate])
os.environ["HYPOTHESIS_PROFILE"] = "mutants"


@cache
def durations() -> dict[str, float]:
    took: dict[str, float] = json.loads(Path(MEASURED).read_text())["duration_by_test"]
    return took


def pytest_configure(config: pytest.Config) -> None:
    """Leave only tests that will be run among pytest's arguments: to find a thousand takes longer than to run one."""
    # mutmut first runs every test to see what it reaches and how long it takes; once known, that stays in memory.
    if not Path(MEASURED).exists():
        return
    took = durations()
    module, _, mutant = os.environ.get("MUTANT_UNDER_TEST", "").rpartition(".")
    if "__mutmut_" not in mutant:
        return
    subject = module.rpartition(".")[2]
    # A test that is new since the last run has no time yet, and comes first among its like.
    config.args.sort(key=lambda test: (subject not in test.partition("::")[0], took.get(test, 0)))
    total = accumulate(took.get(test, 0) for test in config.args)
    del config.args[min(MOST, 1 + sum(seconds <= SECONDS for seconds in total)) :]
    # A mutant that dies while it draws a bar would leave the lock that tqdm shares with all of them closed.
    tqdm.set_lock(RLock())
    _stop_what_hangs(sum(took.get(test, 0) for test in config.args))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    if Path(MEASURED).exists():
        place = {test: i for i, test in enumerate(session.config.args)}
        items.sort(key=lambda item: (place.get(item.nodeid, len(place)), durations().get(item.nodeid, 0)))


def _stop_what_hangs(seconds: float) -> None:
    """Allow a few times what the chosen tests take; mutmut would wait for as long as all that reach the mutant may."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    limit, most = int(used + 5 * seconds) + 10, resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))
    # One that waits uses no processor. The clock gives more, as others may be using the processor meanwhile.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 20 * seconds + 60)
