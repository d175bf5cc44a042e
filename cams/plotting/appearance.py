"""How every learner looks and is called, everywhere: figures, tables, report.

The paper's learners have Okabe and Ito's colours, told apart by colour-blind readers; every other learner has a colour
and a marker that no other has. Print without colour is served by the markers and by the line: solid for learners that
use the context, dashed for those that do not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

STYLE = Path(__file__).with_name("paper.mplstyle")
# Where a PNG keeps the hash of its numbers and of the code that drew it.
DRAWN_FROM = "Drawn from"

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F"
INDIGO, OLIVE, WINE, TEAL, BROWN, SAND = "#332288", "#7A8B00", "#882255", "#35B5A5", "#7B4A12", "#C9B458"
VIOLET, NAVY, ROSE, FOREST, LAVENDER, MAGENTA, CRIMSON = (
    *("#8A5CF5", "#14306B", "#F08A80", "#14652F"),
    *("#A9A9F0", "#E3139B", "#A60012"),
)
SOLID, DASHED, DOTTED, DRAWN = "-", (0, (4, 1.6)), (0, (1, 1.2)), (0, (3, 1, 1, 1, 1, 1))


class Look(NamedTuple):
    title: str
    colour: str
    marker: str
    # a name, or (offset, lengths of dashes and gaps); matplotlib spells the names out as literals
    line: Any


# One entry for each name in cams.LEARNERS; a test holds the two lists together.
LEARNER_LOOKS: dict[str, Look] = {
    "cams": Look("CAMS", VERMILION, "o", SOLID),
    "oracle": Look("Oracle", BLACK, "*", SOLID),
    "cqbc": Look("CQBC", BLUE, "s", SOLID),
    "ciwal": Look("CIWAL", GREEN, "^", SOLID),
    "mp": Look("MP", PURPLE, "D", DASHED),
    "rs": Look("RS", GREY, "x", DASHED),
    "qbc": Look("QBC", SKY, "v", DASHED),
    "iwal": Look("IWAL", ORANGE, "P", DASHED),
    "cams_max": Look("CAMS-MAX", INDIGO, "p", SOLID),
    "cams_random_policy": Look("CAMS-Random-Policy", OLIVE, "X", SOLID),
    "cams_conventional": Look("CAMS-conventional", WINE, "h", SOLID),
    "cams_nonactive": Look("CAMS-nonactive", TEAL, "d", SOLID),
    "cams_variance": Look("CAMS, variance rule", BROWN, "<", SOLID),
    "cams_random_query": Look("CAMS, random rule", SAND, "+", SOLID),
    "cams_context_free": Look("CAMS, context-free", ROSE, "8", DASHED),
    "cams_adversarial": Look("CAMS, adversarial", VIOLET, ">", SOLID),
    "hedge": Look("Hedge", LAVENDER, "1", DASHED),
    "exp3": Look("EXP3", NAVY, "2", DASHED),
    "exp4": Look("EXP4", FOREST, "3", SOLID),
    "cams_evidence": Look("CAMS, evidence rate", CRIMSON, "4", SOLID),
    "cams_plus": Look("CAMS+", MAGENTA, "H", SOLID),
}

# Labels that experiments give to learners with other settings, and lines that are no learner's.
OTHER_LOOKS: dict[str, Look] = {
    "oracle_drawn": Look("Oracle, drawn", BLACK, "", DRAWN),
    "cams_evidence_drawn": Look("CAMS, evidence rate, drawn", CRIMSON, "4", DRAWN),
    "cams_plus_drawn": Look("CAMS+, drawn", MAGENTA, "H", DRAWN),
    "cqbc_evidence": Look("CQBC, evidence rate", BLUE, "s", DOTTED),
    "cqbc_plus": Look("CQBC, rate and prior", BLUE, "s", DASHED),
    "ciwal_evidence": Look("CIWAL, evidence rate", GREEN, "^", DOTTED),
    "ciwal_plus": Look("CIWAL, rate and prior", GREEN, "^", DASHED),
    "cams_plus_plain": Look("CAMS+, plain votes", MAGENTA, "H", DASHED),
}

# Classifiers and policies.
BEST_CLASSIFIER_LOOK = Look("", BLACK, "", DOTTED)
BEST_REFERENCE = Look("", BLACK, "", (0, (5, 1.5, 1, 1.5)))
OTHER_REFERENCE = Look("", "#B5B5B5", "", SOLID)
SECOND_CASE_LINE = (0, (1, 1))
_SPARE = (SKY, ORANGE, PURPLE, GREY, BLACK)
_SPARE_MARKERS = ("4", "|", "_", "8", ".")


def look_of(name: str, position: int = 0) -> Look:
    """Return a learner's look; a label that is no learner gets a spare one by its position in the panel."""
    known = LEARNER_LOOKS | OTHER_LOOKS
    if name in known:
        return known[name]
    spare = position % len(_SPARE)
    return Look(name, _SPARE[spare], _SPARE_MARKERS[spare], SOLID)


def title_of(name: str) -> str:
    known = LEARNER_LOOKS | OTHER_LOOKS
    return known[name].title if name in known else name
