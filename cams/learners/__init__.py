"""All learners, in one list. A new one is a class in a file here and a line in `LEARNERS`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cams.checks import whole_number
from cams.errors import InputError, lookup, nearest
from cams.learners.anchors import Bandit, Hedge
from cams.learners.base import Choice, Learner, Problem, Round
from cams.learners.cams import Cams, CamsAdversarial
from cams.learners.follow_the_leader import ContextualLeader, FollowTheLeader, RandomSampling
from cams.learners.model_picker import ModelPicker
from cams.learners.oracle import Oracle
from cams.learners.prior import FADE, STRENGTH

__all__ = ["LEARNERS", "Choice", "Entry", "Learner", "Problem", "Round", "make_learner"]


@dataclass(frozen=True)
class Entry:
    """A learner's class, the parts that make it this learner, and its constants, all visible, with defaults."""

    factory: type[Learner]
    parts: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def needs_hindsight(self) -> bool:
        return self.factory.needs_hindsight

    def make(self, problem: Problem, settings: Mapping[str, Any]) -> Learner:
        return self.factory(problem, **{**self.parts, **self.constants, **settings})


# Of every learner with exponential weights.
_RATE: dict[str, float | str] = {"rate": 1.0, "rate_rule": "rounds", "prior": 0.0, "fade": FADE, "votes": "shared"}
_CAMS = {**_RATE, "floor": 1.0}
_IWAL = {"delta": 0.01, "slack": 8.0}

LEARNERS: dict[str, Entry] = {
    "cams": Entry(Cams, constants=_CAMS),
    "cams_max": Entry(Cams, {"recommend": "best_policy"}, _CAMS),
    "cams_random_policy": Entry(Cams, {"recommend": "random_policy"}, _CAMS),
    "cams_conventional": Entry(Cams, {"weigh": "policies"}, _CAMS),
    "cams_nonactive": Entry(Cams, {"query": "always"}, _RATE),
    "cams_variance": Entry(Cams, {"query": "variance"}, _RATE),
    "cams_random_query": Entry(Cams, {"query": "random"}, _RATE),
    "cams_context_free": Entry(Cams, {"weigh": "constants"}, _CAMS),
    "cams_adversarial": Entry(CamsAdversarial, constants={**_CAMS, "rho": "proof"}),
    "mp": Entry(ModelPicker, constants=_RATE),
    "rs": Entry(RandomSampling),
    "qbc": Entry(FollowTheLeader, {"query": "vote_entropy"}),
    "iwal": Entry(FollowTheLeader, {"query": "survivors"}, _IWAL),
    "cqbc": Entry(ContextualLeader, {"query": "vote_entropy"}, _RATE),
    "ciwal": Entry(ContextualLeader, {"query": "survivors"}, {**_RATE, **_IWAL}),
    "oracle": Entry(Oracle, constants=_CAMS),
    "hedge": Entry(Hedge, constants=_RATE),
    "exp3": Entry(Bandit, {"weigh": "models"}, _RATE),
    "exp4": Entry(Bandit, {"weigh": "policies"}, _RATE),
    "cams_evidence": Entry(Cams, {"recommend": "mixture"}, {**_CAMS, "rate_rule": "evidence"}),
    "cams_plus": Entry(Cams, {"recommend": "mixture"}, {**_CAMS, "rate_rule": "evidence", "prior": STRENGTH}),
}


def learner_entry(name: str, settings: Mapping[str, Any]) -> Entry:
    """Return a learner's entry, after checking its name and the names of its settings."""
    entry = lookup(LEARNERS, name, "learner")
    known = {**entry.constants, **entry.parts}
    for setting in settings:
        if setting not in known and not (setting == "policy" and entry.needs_hindsight):
            has = ", ".join(known) or "none"
            raise InputError(f"learner '{name}' has no setting '{setting}' (it has: {has}){nearest(setting, known)}")
    return entry


def make_learner(
    name: str,
    *,
    num_models: int,
    num_policies: int,
    num_classes: int,
    horizon: int | None = None,
    budget: int | None = None,
    regularize: bool = False,
    scaled: bool = False,
    **settings: Any,
) -> Learner:
    """Make a learner of `LEARNERS` by name; `settings` override its constants or its parts."""
    entry = learner_entry(name, settings)
    for switch, value in {"regularize": regularize, "scaled": scaled}.items():
        if not isinstance(value, bool):
            raise InputError(f"{switch} is {value!r}, expected True or False")
    problem = Problem(
        whole_number("num_models", num_models, 1),
        whole_number("num_policies", num_policies, 0),
        whole_number("num_classes", num_classes, 1),
        None if horizon is None else whole_number("horizon", horizon, 1),
        None if budget is None else whole_number("budget", budget, 0),
        regularize,
        scaled,
    )
    try:
        return entry.make(problem, settings)
    except InputError as error:
        raise InputError(f"learner '{name}': {error}") from None
    except MemoryError:
        raise InputError(f"learner '{name}': {num_models} models and {num_policies} policies are too many") from None
