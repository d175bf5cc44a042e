"""A picture is drawn again when its numbers, its code or its files have changed, and only then."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from cams.plotting.appearance import look_of
from cams.plotting.panel import Panel, Series
from experiments.figures.unchanged import picture_digest, picture_of


def make_panel(*names: str, title: str = "") -> Panel:
    x = np.arange(12.0)
    lines = tuple(Series(name, look_of(name).title, look_of(name), x, x, x - 1, x + 1) for name in names)
    return Panel("Labels bought", "Errors", lines, title=title)


def test_an_unchanged_picture_is_not_drawn_again(tmp_path: Path) -> None:
    stem = tmp_path / "figure"
    grid = [[make_panel("cams", "mp")]]
    assert [path.suffix for path in picture_of(grid, stem, "code").draw_if_changed()] == [".png", ".pdf"]
    assert picture_of(grid, stem, "code").draw_if_changed() == []
    assert picture_of(grid, stem, "other code").draw_if_changed() != []
    assert picture_of([[make_panel("cams", "mp", title="new")]], stem, "other code").draw_if_changed() != []
    assert picture_of([[make_panel("cams", "rs", title="new")]], stem, "other code").draw_if_changed() != []
    picture = picture_of([[make_panel("cams", "rs", title="new")]], stem, "other code")
    stem.with_suffix(".pdf").unlink()
    assert picture.draw_if_changed() != []
    for suffix in (".png", ".pdf"):
        whole = stem.with_suffix(suffix).read_bytes()
        for damaged in (b"", b"cut off", whole[: len(whole) // 2]):
            stem.with_suffix(suffix).write_bytes(damaged)
            assert not picture.is_drawn()
    assert picture.draw_if_changed() != []
    assert picture.is_drawn()


def test_the_hash_of_a_picture_covers_its_numbers_and_not_their_last_bits() -> None:
    def digest(shift: float) -> str:
        panel = make_panel("cams")
        (line,) = panel.series
        moved = dataclasses.replace(line, mean=line.mean + shift)
        return picture_digest([[dataclasses.replace(panel, series=(moved,))]], "")

    assert digest(0.0) == digest(1e-13)
    assert digest(0.0) != digest(1e-4)
