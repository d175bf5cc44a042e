"""What exactly a run will compute: values only, no paths, no workers, so that a record can be compared with it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

# Raise when the meaning of a recorded column changes: every older record is then stale.
FORMAT = 1

DEFAULT_COMPUTE = "replay"


@dataclass(frozen=True)
class Learner:
    """One learner of an experiment: `label` names its series in the records, `settings` its constants."""

    name: str
    label: str
    settings: dict[str, Any]

    def as_replay_entry(self) -> dict[str, Any]:
        return {"name": self.name, "label": self.label, **self.settings}


@dataclass(frozen=True)
class Case:
    """One way of preparing the bundle; most experiments have a single one, without a label."""

    label: str = ""
    policies: str | tuple[str, ...] = "all"
    regularize: bool = False
    scaled: bool = False
    # power to which learned advice is raised
    temper: float = 1.0
    # share of the learned policies that advise the contrary (None: the bundle's own), and what contrary means
    malicious: float | None = None
    contrary: str = "opposite"
    # Bad classifiers added: copies of the worst one, or different ones with the same wrong answers.
    copies: int = 0
    different: int = 0


@dataclass(frozen=True)
class Plan:
    experiment: str
    dataset: str
    seed: int
    horizon: int
    realizations: int
    budgets: tuple[int, ...]
    trace_rounds: tuple[int, ...]
    trace_budgets: tuple[int, ...]
    learners: tuple[Learner, ...]
    cases: tuple[Case, ...]
    compute: str = DEFAULT_COMPUTE
    needs_bundle: bool = True
    options: dict[str, Any] = dataclasses.field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"format": FORMAT, **dataclasses.asdict(self)}
