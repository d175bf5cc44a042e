"""One job: make sure that the record of a plan exists, and say what was done."""

from __future__ import annotations

from collections.abc import Callable

import cams
from experiments.records.store import State, state_of
from experiments.runner.making import write_records
from experiments.runner.places import Places, origin_of
from experiments.runner.plan import Plan


class NoBundle(cams.InputError):
    """There is neither a bundle nor a record: the data set was never built here."""


def ensure_record(
    plan: Plan, places: Places, n_jobs: int = 0, say: Callable[[str], None] = print, *, fresh: bool = False
) -> bool:
    """Compute the record of a plan unless it is there and current; return whether it was computed.

    `fresh` computes it also then. Where the bundle is not here, a record of the same plan is the best there is.
    """
    if not needs_computing(plan, places, say, fresh=fresh):
        return False
    for made in write_records([plan], places, n_jobs, say):
        if made.error:
            raise made.error
    return True


def needs_computing(plan: Plan, places: Places, say: Callable[[str], None], *, fresh: bool) -> bool:
    """Tell whether a record must be computed, and say why or why not; refuse one that neither is nor can be made."""
    path, origin = places.record(plan), origin_of(plan, places)
    state, name = state_of(path, origin), f"{plan.experiment} {plan.dataset}"
    if origin.bundle is None:
        if not state.is_current and state.why != ("code",):
            raise _no_bundle(plan, places, state)
        say(f"{name}: taken from its {'' if state.is_current else f'{state} '}record, the bundle is not here ({path})")
        return False
    if state.is_current and not fresh:
        say(f"{name}: up to date ({path})")
        return False
    if state.word != "missing":
        say(f"{name}: its record is {state}")
    return True


def _no_bundle(plan: Plan, places: Places, state: State) -> cams.InputError:
    path, build = places.bundle(plan.dataset), f"`make {plan.dataset}` builds it"
    if places.own_bundle:
        return cams.InputError(f"there is no bundle {path}")
    if state.word == "missing":
        return NoBundle(f"data set '{plan.dataset}' has no bundle {path}; {build}")
    return cams.InputError(f"the record {places.record(plan)} is {state} and its bundle {path} is not here; {build}")


def say_now(sentence: str) -> None:
    """Print at once, also into a pipe: someone may be watching a log."""
    print(sentence, flush=True)
