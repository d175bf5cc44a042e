"""How every learner looks and is called, everywhere: figures, tables, report.

Colours are Okabe and Ito's, told apart by colour-blind readers. Print without colour is served by the markers
and by the line: solid for learners that use the context, dashed for those that do not.
"""

from __future__ import annotations

from typing import NamedTuple

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F"
SOLID, DASHED = "-", (0, (4, 1.6))


class Look(NamedTuple):
    title: str
    colour: str
    marker: str
    line: str | tuple[int, tuple[float, ...]]


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
    "cams_max": Look("CAMS-MAX", BLUE, "p", SOLID),
    "cams_random_policy": Look("CAMS-Random-Policy", GREEN, "X", SOLID),
    "cams_conventional": Look("CAMS-conventional", BLUE, "h", SOLID),
    "cams_nonactive": Look("CAMS-nonactive", BLUE, "d", SOLID),
    "cams_variance": Look("CAMS, variance rule", BLUE, "<", SOLID),
    "cams_random_query": Look("CAMS, random rule", GREY, "+", SOLID),
    "cams_context_free": Look("CAMS, context-free", ORANGE, "o", DASHED),
    "cams_adversarial": Look("CAMS, adversarial", BLUE, ">", SOLID),
    "hedge": Look("Hedge", SKY, "1", DASHED),
    "exp3": Look("EXP3", ORANGE, "2", DASHED),
    "exp4": Look("EXP4", GREEN, "3", SOLID),
}

# Lines that no learner draws: classifiers and policies.
BEST_CLASSIFIER = Look("", BLACK, "", (0, (1, 1.2)))
BEST_REFERENCE = Look("", BLACK, "", (0, (5, 1.5, 1, 1.5)))
OTHER_REFERENCE = Look("", "#B5B5B5", "", SOLID)
SECOND_CASE_LINE = (0, (1, 1))
_SPARE = (SKY, ORANGE, PURPLE, GREY, BLACK)
_SPARE_MARKERS = ("4", "|", "H", ">", "8")


def look_of(name: str, position: int = 0) -> Look:
    """Return a learner's look; a label that is no learner gets a spare one by its position in the panel."""
    if name in LEARNER_LOOKS:
        return LEARNER_LOOKS[name]
    spare = position % len(_SPARE)
    return Look(name, _SPARE[spare], _SPARE_MARKERS[spare], SOLID)


def title_of(name: str) -> str:
    return LEARNER_LOOKS[name].title if name in LEARNER_LOOKS else name
