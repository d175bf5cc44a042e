"""What is written into the report page, and when it is not."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import numpy as np
import pytest
from small_report import report_config

import cams
from cams.plotting.panel import Panel
from experiments.figures.compose import compose_figure
from experiments.report.__main__ import page_path
from experiments.report.figures import embed_picture, figure_data, shorten
from experiments.report.parts import read_ledger, read_tables
from experiments.report.render import render_page, write_report
from experiments.runner.configuration import compose_run


def test_plots_get_the_numbers_of_the_figure(made: tuple[Path, Path]) -> None:
    cfg = compose_run(["experiment=outperform"])
    grid = compose_figure(cfg, made[0])
    data = figure_data(grid)
    panels = [panel for row in grid for panel in row if panel]
    shown = [panel for row in data["rows"] for panel in row if panel]
    assert len(panels) == len(shown) > 1
    for panel, given in zip(panels, shown, strict=True):
        for line, entry in zip(panel.series, given["series"], strict=True):
            np.testing.assert_allclose(entry["mean"], line.mean, rtol=1e-4)
            assert data["looks"][entry["look"]]["marker"] == line.look.marker
        for level, entry in zip(panel.references, given["references"], strict=True):
            np.testing.assert_allclose(entry["mean"], level.mean, rtol=1e-4)


def test_a_line_without_label_follows_its_owner_and_the_stand_in(made: tuple[Path, Path]) -> None:
    data = figure_data(compose_figure(compose_run(["experiment=theory_stochastic"]), made[0]))
    bounds = [line for line in data["rows"][0][0]["series"] if line["name"].endswith("bound")]
    assert bounds
    assert bounds[0]["keys"] == [bounds[0]["name"].removesuffix(" bound"), "Bound, same colour"]


def test_numbers_are_short_and_never_nan() -> None:
    assert shorten([1234.5678, 2.0, float("nan"), float("inf"), 0.000123456]) == [1234.6, 2, None, None, 0.00012346]


def test_an_empty_panel_is_left_empty() -> None:
    assert figure_data([[Panel("x", "y", ()), None]])["rows"][0][1] is None


def test_the_page_says_which_records_are_not_current(made: tuple[Path, Path]) -> None:
    # Made at smoke scale, and so by another plan than the shipped one.
    assert "the record of main on vertebral is stale (another plan)" in made[1].read_text()


def test_a_damaged_record_is_refused(made: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(made[0], tmp_path / "results")
    record = tmp_path / "results" / "records" / "main" / "vertebral" / "seed0.parquet"
    record.write_bytes(record.read_bytes()[:-100])
    with pytest.raises(cams.InputError, match=r"seed0\.parquet is damaged"):
        render_page(report_config(tmp_path / "results", tmp_path / "page.html"))


DAMAGED = [
    ("claims.json", b"{", "python -m experiments.claims"),
    ("claims.json", b"[]", "python -m experiments.claims"),
    ("claims.json", b"{}", "python -m experiments.claims"),
    ("tables/methods.csv", b"", "steps=[tables]"),
    ("tables/methods.csv", b"junk", "steps=[tables]"),
    ("tables/methods.csv", b"\xff\x00\xfe", "steps=[tables]"),
    ("tables/methods.csv", b"a,b\n1,2,3\n", "steps=[tables]"),
    ("figures/main/main.png", b"no picture", "steps=[figures]"),
]


@pytest.mark.parametrize(("name", "content", "command"), DAMAGED)
def test_a_damaged_result_is_named_with_the_command_that_makes_it(
    tmp_path: Path, name: str, content: bytes, command: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(content)
    read = {".json": read_ledger, ".csv": read_tables, ".png": lambda _: embed_picture(path)}[path.suffix]
    with pytest.raises(cams.InputError) as refusal:
        read(tmp_path)
    assert str(refusal.value).startswith(f"{path} is damaged; `python -m experiments.")
    assert command in str(refusal.value)


def test_a_page_with_other_settings_has_a_place_of_its_own() -> None:
    cfg = report_config(Path("results"), Path("results/report.html"))
    for overrides, page in (
        ([], "results/report.html"),
        (["paths.results=results"], "results/report.html"),
        (["title=x"], "results/variants/title=x/report.html"),
        (["title=x", "paths.page=results/report.html"], "results/report.html"),
    ):
        assert page_path(cfg, overrides) == Path(page)


def test_the_page_depends_on_no_clock_commit_or_machine(made: tuple[Path, Path], tmp_path: Path) -> None:
    again = write_report(report_config(made[0], tmp_path / "again.html"), tmp_path / "again.html")
    assert again.read_bytes() == made[1].read_bytes()
    assert platform.machine() not in again.read_text().partition("<main>")[2].partition("</main>")[0]


def test_what_a_killed_run_left_half_written_is_not_on_the_page(made: tuple[Path, Path], tmp_path: Path) -> None:
    results = Path(shutil.copytree(made[0], tmp_path / "results"))
    for path in [path for path in results.rglob("*.*") if path.is_file()]:
        path.with_name(f".{path.stem}.0123456789ab.part{path.suffix}").write_bytes(path.read_bytes()[:300])
    page = write_report(report_config(results, tmp_path / "page.html"), tmp_path / "page.html")
    assert page.read_bytes() == made[1].read_bytes()


def test_no_records_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(cams.InputError, match="has no records of seed 0"):
        render_page(report_config(tmp_path, tmp_path / "page.html"))
