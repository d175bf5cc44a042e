"""The report page, opened from disk in a real browser and used with a real mouse and keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from headless_browser import CHROMIUM, Browser, headless_browser
from small_report import EXPERIMENTS

from cams.plotting.appearance import LEARNER_LOOKS
from data_prep.pipeline.catalogue import catalogue
from data_prep.pipeline.shell import CONF
from experiments.figures.compose import compose_figure
from experiments.runner.configuration import compose_run

PHONE, DESKTOP = 360, 1280
READABLE = 4.5

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here; on Debian: apt install chromium")


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with headless_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(started: Browser) -> Browser:
    started.complaints.clear()
    started.requests.clear()
    return started


def show(browser: Browser, element: str) -> dict[str, float]:
    """Scroll an element to the middle of the window and return its place there."""
    return browser.run(
        f"""(() => {{ const e = document.querySelector({json.dumps(element)});
        e.scrollIntoView({{block: "center", behavior: "instant"}});
        return new Promise(done => requestAnimationFrame(() => setTimeout(() => {{
          const {{x, y, width, height}} = e.getBoundingClientRect(); done({{x, y, width, height}}); }}, 50))); }})()"""
    )


def show_figure(browser: Browser, name: str) -> dict[str, float]:
    """Scroll to a figure, wait until it is drawn, and return the place of its first plot."""
    show(browser, f"#figure-{name} .panels")
    browser.run(
        f"""new Promise(done => {{ const look = () => document.querySelector("#figure-{name} .canvas svg")
        ? done(true) : setTimeout(look, 20); look(); }})"""
    )
    return show(browser, f"#figure-{name} .canvas svg")


def middle(box: dict[str, float]) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drawn_lines(browser: Browser, figure: str = "main") -> int:
    return browser.run(f"document.querySelectorAll('#figure-{figure} .canvas path.line').length")


@needs_browser
def test_opens_from_disk_without_a_complaint(made: tuple[Path, Path], browser: Browser) -> None:
    browser.open(made[1], DESKTOP)
    for name in EXPERIMENTS:
        show_figure(browser, name)
        assert drawn_lines(browser, name) > 0
        browser.run(f"document.querySelector('#figure-{name} .printed').open = true")
        assert browser.run(f"document.querySelector('#figure-{name} img').decode().then(() => true)")
    assert browser.complaints == []
    assert {address.partition(":")[0] for address in browser.requests} <= {"file", "data"}


@needs_browser
def test_figures_far_down_are_drawn_when_they_come_into_view(made: tuple[Path, Path], browser: Browser) -> None:
    browser.open(made[1], DESKTOP)
    assert drawn_lines(browser, EXPERIMENTS[-1]) == 0
    show_figure(browser, EXPERIMENTS[-1])
    assert drawn_lines(browser, EXPERIMENTS[-1]) > 0


@needs_browser
def test_printed_pictures_are_folded_away_below_the_plots(made: tuple[Path, Path], browser: Browser) -> None:
    browser.open(made[1], DESKTOP)
    for name in EXPERIMENTS:
        assert show(browser, f"#figure-{name} .panels")["width"] > 300
        assert not browser.run(f"document.querySelector('#figure-{name} img').checkVisibility()")
        browser.run(f"document.querySelector('#figure-{name} .printed').open = true")
        assert show(browser, f"#figure-{name} img")["width"] > 300
    assert browser.run(
        "[...document.querySelectorAll('article:has(.interactive)')].every(a => "
        "a.querySelector('.panels').getBoundingClientRect().bottom "
        "<= a.querySelector('img').getBoundingClientRect().top)"
    )


@needs_browser
def test_printed_pictures_are_dark_in_the_dark(made: tuple[Path, Path], browser: Browser) -> None:
    look = "getComputedStyle(document.querySelector('#figure-main img')).filter"
    for scheme, expected in (("light", "none"), ("dark", "invert(0.92) hue-rotate(180deg)")):
        browser.open(made[1], DESKTOP, scheme=scheme)
        assert browser.run(look) == expected


@needs_browser
def test_axis_text_is_readable_and_not_clipped(made: tuple[Path, Path], browser: Browser) -> None:
    for width in (PHONE, 1440):
        browser.open(made[1], width)
        for name in EXPERIMENTS:
            show_figure(browser, name)
        sizes = "[...document.querySelectorAll('.canvas text')].map(t => parseFloat(getComputedStyle(t).fontSize)"
        scale = " * t.ownerSVGElement.clientWidth / t.ownerSVGElement.viewBox.baseVal.width)"
        assert browser.run(f"Math.min(...{sizes}{scale})") >= 12
        outside = browser.run(
            """[...document.querySelectorAll(".canvas text.tick")].filter(t => {
              const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();
              return a.left < b.left - 1 || a.right > b.right + 1 || a.bottom > b.bottom + 1; })
              .map(t => t.textContent)"""
        )
        assert outside == []


@needs_browser
def test_a_tap_shows_a_value_that_stays_beside_its_point(made: tuple[Path, Path], browser: Browser) -> None:
    browser.open(made[1], PHONE, 740)
    plot = show_figure(browser, "main")
    for share in (0.35, 0.6, 0.9):
        browser.tap(plot["x"] + share * plot["width"], plot["y"] + 0.5 * plot["height"])
        tip, ring = browser.run(
            """new Promise(done => setTimeout(() => { const figure = document.querySelector("#figure-main");
              const box = e => { const b = e.getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]; };
              const tip = figure.querySelector(".tip");
              done([tip.hidden ? null : box(tip), box(figure.querySelector(".overlay circle") ?? tip)]); }, 400))"""
        )
        assert tip is not None, "the value has gone"
        x, y = (ring[0] + ring[1]) / 2, (ring[2] + ring[3]) / 2
        assert not (tip[0] < x < tip[1] and tip[2] < y < tip[3]), "the value covers its point"
        assert max(tip[0] - x, x - tip[1], tip[2] - y, y - tip[3]) < 40, "the value is far from its point"
        assert tip[0] >= 0
        assert tip[1] <= PHONE
    browser.tap(plot["x"] + plot["width"] / 2, plot["y"] - 25)
    assert browser.run("document.querySelector('#figure-main .tip').hidden")


@needs_browser
def test_legend_switches_a_learner_with_mouse_and_keyboard(made: tuple[Path, Path], browser: Browser) -> None:
    browser.open(made[1], DESKTOP)
    button = "#figure-main [data-label=CQBC]"
    state = f"document.querySelector('{button}').getAttribute('aria-pressed')"
    show_figure(browser, "main")
    place = middle(show(browser, button))
    lines = drawn_lines(browser)
    assert browser.run(state) == "true"
    browser.click(*place)
    assert (browser.run(state), drawn_lines(browser)) == ("false", lines - 1)
    browser.run(f"document.querySelector('{button}').focus()")
    browser.press(" ", 32, " ")
    assert (browser.run(state), drawn_lines(browser)) == ("true", lines)
    browser.press("Enter", 13, "\r")
    assert (browser.run(state), drawn_lines(browser)) == ("false", lines - 1)
    browser.click(*middle(show(browser, "#figure-main .legend .all")))
    assert drawn_lines(browser) == lines
    assert browser.complaints == []


@needs_browser
def test_pointing_shows_the_recorded_value(made: tuple[Path, Path], browser: Browser) -> None:
    results, page = made
    browser.open(page, DESKTOP)
    show_figure(browser, "main")
    cfg = compose_run(["experiment=main"])
    panel = next(panel for row in compose_figure(cfg, results) for panel in row if panel)
    line = next(line for line in panel.series if line.name == "rs")
    for label in [entry.label for entry in panel.series if entry.name != "rs"]:
        browser.click(*middle(show(browser, f"#figure-main [data-label='{label}']")))
    plot = show_figure(browser, "main")
    marker = browser.run(
        "(() => { const b = document.querySelector('#figure-main .canvas g[clip-path] path[transform]')"
        ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    browser.mouse("mouseMoved", *marker)
    tip = "document.querySelector('#figure-main .tip')"
    shown = browser.run(f"{tip}.innerText")
    assert LEARNER_LOOKS["rs"].title in shown
    assert any(f"{mean:,.5g}" in shown for mean in line.mean)
    browser.mouse("mouseMoved", plot["x"] - 30, plot["y"] - 30)
    assert browser.run(f"{tip}.hidden")
    browser.run("document.querySelector('#figure-main .canvas svg').focus()")
    browser.press("ArrowRight", 39)
    assert LEARNER_LOOKS["rs"].title in browser.run(f"{tip}.innerText")


@needs_browser
def test_drag_zooms_and_reset_returns(made: tuple[Path, Path], browser: Browser) -> None:
    browser.open(made[1], DESKTOP)
    plot = show_figure(browser, "main")
    axes = "[...document.querySelectorAll('#figure-main .canvas text')].map(t => t.textContent).join('|')"
    whole = browser.run(axes)
    corner = plot["x"] + 0.4 * plot["width"], plot["y"] + 0.3 * plot["height"]
    browser.drag(corner, (corner[0] + 0.3 * plot["width"], corner[1] + 0.3 * plot["height"]))
    assert browser.run(axes) != whole
    browser.click(*middle(show(browser, "#figure-main .reset")))
    assert browser.run(axes) == whole
    assert browser.run("document.querySelector('#figure-main .reset').hidden")
    assert browser.complaints == []


@needs_browser
def test_ledger_tables_and_cards_are_there(made: tuple[Path, Path], browser: Browser) -> None:
    results, page = made
    browser.open(page, DESKTOP)
    counts = browser.run("[...document.querySelectorAll('.counts strong')].map(e => +e.textContent)")
    ledger = json.loads((results / "claims.json").read_text())
    assert (
        sum(counts)
        == len(ledger["claims"])
        == browser.run("document.querySelectorAll('#claims .ledger > .claim').length")
    )
    for path in (results / "tables").glob("*.csv"):
        rows = browser.run(f"document.querySelectorAll('#table-{path.stem} tbody tr').length")
        assert rows == len(path.read_text().splitlines()) - 1
    cards = browser.run("[...document.querySelectorAll('.card')].map(e => e.id)")
    assert cards == [f"data-{name}" for name in catalogue() if (CONF.parent / "docs" / "data" / f"{name}.md").exists()]
    assert browser.run("document.querySelector('#making').innerText.includes('records')")
    browser.run("document.querySelector('#figure-main .numbers').open = true")
    assert browser.run(
        "new Promise(r => setTimeout(() => r(document.querySelectorAll('#figure-main .numbers tbody tr').length), 50))"
    )


@needs_browser
def test_phone_width_needs_no_sideways_scrolling(made: tuple[Path, Path], browser: Browser) -> None:
    browser.open(made[1], PHONE, 740)
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    for name in EXPERIMENTS:
        show_figure(browser, name)
    assert browser.run("document.documentElement.scrollWidth") == PHONE
    # The panels of a figure lie side by side: a figure is no taller than a screen or two.
    assert browser.run("Math.max(...[...document.querySelectorAll('.panels')].map(e => e.offsetHeight))") < 740
    # Text that is smaller than this cannot be read on a phone.
    assert (
        browser.run(
            "Math.min(...[...document.querySelectorAll('.canvas text')].map(t => t.getBoundingClientRect().height))"
        )
        >= 10
    )


CONTRASTS = """(() => {
  const parse = c => { const v = c.match(/[\\d.]+/g).map(Number); return { rgb: v.slice(0, 3), alpha: v[3] ?? 1 }; };
  const light = rgb => rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const back = e => { for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor); if (c.alpha === 1) return c.rgb; } return [255, 255, 255]; };
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    const words = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!words || !e.getClientRects().length || e.closest("script, style")) continue;
    const style = getComputedStyle(e), colour = e instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(parse(colour).rgb), light(back(e))].sort((p, q) => q - p);
    const name = `${e.tagName}.${e.getAttribute("class")} ${e.textContent.trim().slice(0, 30)}`;
    found.push([(a + 0.05) / (b + 0.05), name]);
  }
  return { count: found.length, worst: found.sort((p, q) => p[0] - q[0])[0], paper: light(back(document.body)) };
})()"""


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_colour_schemes(made: tuple[Path, Path], browser: Browser, scheme: str) -> None:
    browser.open(made[1], DESKTOP, scheme=scheme)
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    for name in EXPERIMENTS:
        show_figure(browser, name)
    browser.click(*middle(show(browser, "#figure-main [data-label=CQBC]")))
    seen = browser.run(CONTRASTS)
    assert seen["count"] > 200
    assert seen["worst"][0] >= READABLE, seen["worst"]
    assert (seen["paper"] > 0.5) == (scheme == "light")
