// The page around the plots: legends, drawing when a figure comes into view, tables of the plotted numbers.

const FIGURES = JSON.parse(document.getElementById("figure-data").textContent);

class Figure {
  constructor(place, data) {
    Object.assign(this, { place, data, looks: data.looks, hidden: new Set(), plots: [] });
    this.legend = place.querySelector(".legend");
    this.legend.innerHTML = data.legend.map(([label, look]) => `<button type="button" aria-pressed="true"
      data-label="${escapeText(label)}">${this.swatch(this.looks[look])}${escapeText(label)}</button>`).join("")
      + `<button type="button" class="all" hidden>Show all</button>`;
    this.legend.addEventListener("click", event => this.toggle(event.target.closest("button")));
    this.legend.addEventListener("dblclick", event => this.isolate(event.target.closest("button[data-label]")));
    const numbers = place.querySelector(".numbers");
    numbers.addEventListener("toggle", () => this.tabulate(numbers.querySelector("tbody")), { once: true });
  }

  swatch(look) {
    return `<svg viewBox="0 0 30 12" aria-hidden="true"><path class="line" d="M1 6H29" stroke="${look.colour}"
      ${dashes(look, 1.7)}/>${markerPath(look, 15, 6)}</svg>`;
  }

  toggle(button) {
    if (!button) return;
    const label = button.dataset.label;
    if (label === undefined) this.hidden.clear();
    else if (!this.hidden.delete(label)) this.hidden.add(label);
    this.update();
  }

  isolate(button) {
    if (!button) return;
    this.hidden = new Set(this.data.legend.map(([label]) => label).filter(label => label !== button.dataset.label));
    this.update();
  }

  update() {
    for (const button of this.legend.querySelectorAll("[data-label]"))
      button.setAttribute("aria-pressed", !this.hidden.has(button.dataset.label));
    const all = this.legend.querySelector(".all"), focused = document.activeElement === all;
    all.hidden = !this.hidden.size;
    if (focused && all.hidden) this.legend.querySelector("button").focus();
    for (const plot of this.plots) plot.draw();
  }

  draw() {
    const panels = this.data.rows.flat();
    this.place.querySelectorAll(".panel").forEach((place, i) => {
      if (panels[i]) this.plots.push(new Plot(panels[i], this, place));
    });
  }

  tabulate(body) {
    const cell = v => `<td>${v === null || v === undefined ? "" : typeof v === "number" ? formatNumber(v) : escapeText(v)}</td>`;
    body.innerHTML = this.data.rows.flat().filter(Boolean).flatMap(panel => [
      ...panel.series.flatMap(line => line.x.map((x, i) =>
        [panel.title, line.name, panel.ticks[x] ?? x, line.mean[i], line.low[i], line.high[i]])),
      ...panel.references.map(level => [panel.title, level.name, null, level.mean, level.low, level.high]),
    ]).map(row => `<tr>${row.map(cell).join("")}</tr>`).join("");
  }
}

// Plots are drawn shortly before they scroll into view, so the page opens at once however many there are.
const observer = new IntersectionObserver(entries => {
  for (const entry of entries.filter(e => e.isIntersecting)) {
    observer.unobserve(entry.target);
    figures.get(entry.target).draw();
  }
}, { rootMargin: "400px" });
const figures = new Map();
for (const place of document.querySelectorAll(".interactive")) {
  figures.set(place, new Figure(place, FIGURES[place.dataset.figure]));
  observer.observe(place);
}

// A link into something folded away unfolds it; on paper nothing is folded.
function unfoldTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target && target.closest("details");
  if (!folded) return;
  folded.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", unfoldTarget);
unfoldTarget();
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not(.numbers)")) details.open = true;
});
