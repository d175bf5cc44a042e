"use strict";
// One interactive plot per panel, drawn as SVG from numbers that are already final: nothing is computed here but places.

const SHAPE = 0.73;  // height over width
const MARGIN = { left: 64, right: 10, top: 8, bottom: 42 };
const MARKERS_PER_LINE = 8;
const ZERO_TO_ONE = 0.5;  // decades between 0 and 1 on an axis that starts at 0, as in the printed figures
const DIGIT = 7;  // pixels that a character of a tick label takes, generously
const NEAR = 60, GAP = 14;
const SMALLEST_DRAG = 7;

const SYMLOG_LINEAR = 2, SYMLOG_SLOPE = 10 / 9;  // matplotlib's, so that both plots look the same
const SCALES = {
  linear: { to: v => v, from: p => p },
  from_zero: {
    to: v => v <= 1 ? ZERO_TO_ONE * v : ZERO_TO_ONE + Math.log10(v),
    from: p => p <= ZERO_TO_ONE ? p / ZERO_TO_ONE : 10 ** (p - ZERO_TO_ONE),
  },
  log: { to: v => Math.log10(Math.max(v, 1e-12)), from: p => 10 ** p },
  symlog: {
    to: v => Math.abs(v) <= SYMLOG_LINEAR ? v * SYMLOG_SLOPE
      : Math.sign(v) * SYMLOG_LINEAR * (SYMLOG_SLOPE + Math.log10(Math.abs(v) / SYMLOG_LINEAR)),
    from: p => Math.abs(p) <= SYMLOG_LINEAR * SYMLOG_SLOPE ? p / SYMLOG_SLOPE
      : Math.sign(p) * SYMLOG_LINEAR * 10 ** (Math.abs(p) / SYMLOG_LINEAR - SYMLOG_SLOPE),
  },
};

const escapeText = text => String(text).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
const formatNumber = v => v.toLocaleString("en-US", { maximumSignificantDigits: 5 });
const superscript = n => String(n).replace(/./g, c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻");

// Marker shapes around the origin with radius 1, called as matplotlib calls them. Filled ones close their path.
const corners = (count, turn, radius = () => 1) => Array.from({ length: count }, (_, i) => {
  const angle = turn + 2 * Math.PI * i / count;
  return `${(Math.sin(angle) * radius(i)).toFixed(2)} ${(-Math.cos(angle) * radius(i)).toFixed(2)}`;
});
const filled = points => `M${points.join("L")}Z`;
const spokes = (count, turn) => corners(count, turn).map(end => `M0 0L${end}`).join("");
const thickCross = turn => filled(corners(12, turn + Math.PI / 12, i => i % 3 === 2 ? 0.5 : 1.05));
const PI = Math.PI;
const MARKERS = {
  o: "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1 -1 0Z", "8": filled(corners(8, PI / 8)),
  "^": filled(corners(3, 0)), ">": filled(corners(3, PI / 2)), v: filled(corners(3, PI)), "<": filled(corners(3, -PI / 2)),
  s: filled(corners(4, PI / 4)), D: filled(corners(4, 0)), d: filled(corners(4, 0, i => i % 2 ? 0.6 : 1.1)),
  p: filled(corners(5, 0)), h: filled(corners(6, 0)), H: filled(corners(6, PI / 6)),
  "*": filled(corners(10, 0, i => i % 2 ? 0.5 : 1.25)), P: thickCross(-PI / 6), X: thickCross(PI / 12),
  x: spokes(4, PI / 4), "+": spokes(4, 0), "|": spokes(2, 0),
  "1": spokes(3, PI), "2": spokes(3, 0), "3": spokes(3, -PI / 2), "4": spokes(3, PI / 2),
};

function markerPath(look, x, y, size = 3.4) {
  const shape = MARKERS[look.marker];
  if (!shape) return "";
  const fill = shape.endsWith("Z") ? look.colour : "none";
  return `<path d="${shape}" transform="translate(${x} ${y}) scale(${size})" fill="${fill}" stroke="${look.colour}"
    stroke-width="1.1" vector-effect="non-scaling-stroke"/>`;
}

const dashes = (look, width) => look.dash.length ? `stroke-dasharray="${look.dash.map(d => d * width).join(" ")}"` : "";

function linearTicks([low, high], wanted, whole) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].map(m => m * power).find(s => s >= 0.7 * rough);
  if (whole) step = Math.max(1, step);
  const ticks = [];
  for (let i = Math.ceil(low / step) + 0; i * step <= high; i++) ticks.push({ value: i * step, text: formatNumber(i * step) });
  return ticks;
}

// Powers of ten; over a short range also their double and fivefold, over a range without any none.
function powerTicks([low, high]) {
  const between = low > 0 && high / low < 300;
  const ticks = low <= 0 && high >= 0 ? [{ value: 0, text: "0" }] : [];
  const power = (k, sign) => sign + (between || (k >= 0 && k < 5) ? formatNumber(10 ** k) : "10" + superscript(k));
  for (let k = low > 0 ? Math.floor(Math.log10(low)) : 1; 10 ** k <= high * 1.0001; k++) {
    ticks.push({ value: 10 ** k, text: power(k, "") });
    if (between) for (const m of [2, 5]) ticks.push({ value: m * 10 ** k, text: formatNumber(m * 10 ** k) });
  }
  for (let k = 1; -(10 ** k) >= low; k++) ticks.push({ value: -(10 ** k), text: power(k, "−") });
  return ticks.filter(tick => tick.value >= low * 0.999 - 1e-9 && tick.value <= high * 1.001);
}

// 0 and the powers of ten from 1 on; where there are few, their triples too.
function fromZeroTicks([low, high]) {
  const powers = [];
  for (let power = 1; power <= high * 1.0001; power *= 10) powers.push(power);
  const values = [0, ...powers, ...(powers.length < 3 ? powers.map(power => 3 * power) : [])].sort((a, b) => a - b);
  return values.filter(v => v >= low - 1e-9 && v <= high * 1.0001).map(value => ({ value, text: formatNumber(value) }));
}

class Axis {
  // [low, high] are values of the quantity; pixels run from start to end, with a margin if the limits are the data's own.
  constructor(kind, [low, high], [start, end], margin) {
    this.kind = kind;
    this.scale = SCALES[kind];
    let [a, b] = [this.scale.to(low), this.scale.to(high)];
    if (!(b > a)) [a, b] = [a - 0.5, a + 0.5];
    const gap = (b - a) * margin;
    Object.assign(this, { a: a - gap, b: b + gap, start, end });
  }
  at(value) {
    const place = this.start + (this.scale.to(value) - this.a) / (this.b - this.a) * (this.end - this.start);
    return Math.round(Math.max(-9999, Math.min(9999, place)) * 10) / 10;
  }
  valueAt(pixel) { return this.scale.from(this.a + (pixel - this.start) / (this.end - this.start) * (this.b - this.a)); }
  limits() { return [this.scale.from(this.a), this.scale.from(this.b)]; }
  ticks(wanted, whole) {
    const powers = this.kind === "linear" ? [] : this.kind === "from_zero" ? fromZeroTicks(this.limits()) : powerTicks(this.limits());
    return powers.length > 1 ? powers : linearTicks(this.limits(), wanted, whole);
  }
}

class Plot {
  constructor(panel, figure, place) {
    Object.assign(this, { panel, figure, place, zoom: null, drag: null, current: null, id: `clip${Plot.count++}` });
    place.innerHTML = `<h4>${escapeText(panel.title).replaceAll("\n", "<br>")}</h4>
      <div class="canvas"><svg tabindex="0" role="img"
        aria-label="${escapeText(`${panel.title}: ${panel.labels[1]} against ${panel.labels[0]}. Arrow keys step through the values.`)}"></svg>
        <div class="tip" role="status" hidden></div><button class="reset" type="button" hidden>Reset zoom</button></div>`;
    this.svg = place.querySelector("svg");
    this.tip = place.querySelector(".tip");
    this.reset = place.querySelector(".reset");
    this.listen();
    this.fit();
    new ResizeObserver(() => this.fit()).observe(place.querySelector(".canvas"));
  }

  // One unit of the drawing is one pixel, so that letters have the size that the page gives them.
  fit() {
    const width = Math.round(this.svg.clientWidth);
    if (!width || width === this.width) return;
    Object.assign(this, { width, height: Math.round(width * SHAPE) });
    this.frame = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: this.height - MARGIN.bottom };
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.draw();
  }

  visible(lines) { return lines.filter(line => line.keys.every(key => !this.figure.hidden.has(key))); }

  extent(axis) {
    const lines = this.visible(this.panel.series), levels = axis === 1 ? this.visible(this.panel.references) : [];
    const parts = axis === 0 ? lines.map(line => line.x)
      : [...lines.flatMap(line => [line.low, line.high, line.mean]), ...levels.map(level => [level.low, level.high])];
    let values = parts.flat().filter(v => v !== null);
    if (this.panel.scales[axis] === "log") values = values.filter(v => v > 0);
    return values.length ? [Math.min(...values), Math.max(...values)] : [1, 10];
  }

  draw() {
    const zoom = this.zoom, [kindX, kindY] = this.panel.scales, frame = this.frame;
    this.x = new Axis(kindX, zoom ? zoom.x : this.extent(0), [frame.left, frame.right], zoom ? 0 : 0.03);
    this.y = new Axis(kindY, zoom ? zoom.y : this.extent(1), [frame.bottom, frame.top], zoom ? 0 : 0.05);
    const lines = this.visible(this.panel.series);
    // As in the printed figure, what the paper is about lies on top.
    lines.sort((a, b) => (a.name === "CAMS") - (b.name === "CAMS"));
    this.svg.innerHTML = this.axes() + `<clipPath id="${this.id}"><rect x="${frame.left}" y="${frame.top}"
      width="${frame.right - frame.left}" height="${frame.bottom - frame.top}"/></clipPath>
      <g clip-path="url(#${this.id})">${this.visible(this.panel.references).map(level => this.level(level)).join("")}
      ${lines.map(line => this.line(line)).join("")}</g><g class="overlay"></g>`;
    this.overlay = this.svg.querySelector(".overlay");
    this.reset.hidden = !zoom;
    this.show(null);
  }

  axes() {
    const whole = !this.zoom && this.panel.scales[0] === "linear", frame = this.frame;
    const wanted = Math.max(2, Math.floor((frame.right - frame.left) / 70));
    // A label at the end of the axis stays inside the drawing.
    const inward = (x, text) => Math.min(x, this.width - DIGIT * String(text).length / 2);
    const named = this.panel.ticks.map((text, value) => ({ value, text }));
    const inside = (axis, tick) => { const [a, b] = axis.limits(); return tick.value >= a && tick.value <= b; };
    const ticksX = (named.length ? named : this.x.ticks(wanted, whole)).filter(tick => inside(this.x, tick));
    const ticksY = this.y.ticks(5, false).filter(tick => inside(this.y, tick));
    const [labelX, labelY] = this.panel.labels.map(escapeText), middle = (frame.top + frame.bottom) / 2;
    return ticksX.map(t => `<path class="grid" d="M${this.x.at(t.value)} ${frame.top}V${frame.bottom}"/>
        <text class="tick" x="${inward(this.x.at(t.value), t.text)}" y="${frame.bottom + 16}" text-anchor="middle">${escapeText(t.text)}</text>`).join("")
      + ticksY.map(t => `<path class="grid" d="M${frame.left} ${this.y.at(t.value)}H${frame.right}"/>
        <text class="tick" x="${frame.left - 6}" y="${this.y.at(t.value) + 4}" text-anchor="end">${t.text}</text>`).join("")
      + `<path class="frame" d="M${frame.left} ${frame.top}V${frame.bottom}H${frame.right}"/>
        <text class="label" x="${(frame.left + frame.right) / 2}" y="${this.height - 6}" text-anchor="middle">${labelX}</text>
        <text class="label" transform="translate(11 ${middle}) rotate(-90)" text-anchor="middle">${labelY}</text>`;
  }

  level(level) {
    const look = this.figure.looks[level.look], y = this.y.at(level.mean), top = this.y.at(level.high), frame = this.frame;
    return `<rect x="${frame.left}" width="${frame.right - frame.left}" y="${top}" height="${this.y.at(level.low) - top}"
      fill="${look.colour}" opacity="0.08"/><path class="line level" d="M${frame.left} ${y}H${frame.right}"
      stroke="${look.colour}" ${dashes(look, 1.4)}/>`;
  }

  line(line) {
    const look = this.figure.looks[line.look], px = i => this.x.at(line.x[i]);
    const kept = line.x.map((_, i) => i).filter(i => line.x[i] !== null && line.mean[i] !== null);
    const path = (indices, values) => indices.map(i => `${px(i)} ${this.y.at(values[i])}`).join("L");
    const every = Math.ceil(kept.length / MARKERS_PER_LINE), first = (kept.length - 1) % every;
    const marked = kept.filter((_, i) => i >= first && (i - first) % every === 0);
    return `<path d="M${path(kept, line.low)}L${path(kept.toReversed(), line.high)}Z" fill="${look.colour}" opacity="0.16"/>
      <path class="line" d="M${path(kept, line.mean)}" stroke="${look.colour}" ${dashes(look, 1.7)}/>
      ${marked.map(i => markerPath(look, px(i), this.y.at(line.mean[i]))).join("")}`;
  }

  // Every value that can be pointed at; a level has no x and is met anywhere along it.
  points() {
    const frame = this.frame;
    const points = this.visible(this.panel.series).flatMap(line => line.x.map((x, i) =>
      ({ line, i, x, mean: line.mean[i], low: line.low[i], high: line.high[i] })));
    return points.filter(p => p.x !== null && p.mean !== null).map(p => ({ ...p, px: this.x.at(p.x), py: this.y.at(p.mean) }))
      .filter(p => p.px >= frame.left && p.px <= frame.right && p.py >= frame.top && p.py <= frame.bottom);
  }

  // Within reach of a mouse; a finger, which cannot hover, gets what is nearest anywhere.
  nearest(px, py, reach = NEAR) {
    const distance = p => Math.hypot((p.px ?? px) - px, p.py - py);
    const levels = this.visible(this.panel.references).map(line => ({ line, ...line, py: this.y.at(line.mean) }));
    const best = points => points.reduce((a, b) => a && distance(a) <= distance(b) ? a : b, null);
    const point = best(this.points()), level = best(levels);
    if (level && distance(level) < 6 && !(point && distance(point) < 10)) return { ...level, px };
    return point && distance(point) < reach ? point : null;
  }

  show(point) {
    this.current = point;
    this.tip.hidden = !point;
    if (!this.overlay) return;
    this.overlay.innerHTML = "";
    if (!point) return;
    const look = this.figure.looks[point.line.look], [labelX, labelY] = this.panel.labels.map(escapeText);
    const x = point.x === undefined ? "" : `<br>${labelX || "At"}: ${escapeText(this.panel.ticks[point.x] ?? formatNumber(point.x))}`;
    const range = point.low < point.high ? ` <span>(${formatNumber(point.low)} to ${formatNumber(point.high)})</span>` : "";
    this.overlay.innerHTML = `<circle cx="${point.px}" cy="${point.py}" r="6" fill="none" stroke="${look.colour}" stroke-width="2"/>`;
    this.tip.innerHTML = `<strong>${escapeText(point.line.name)}</strong>${x}<br>${labelY}: ${formatNumber(point.mean)}${range}`;
    this.placeTip(point);
  }

  // Beside the point, on the side with more room, never over it and never beyond the window.
  placeTip(point) {
    const box = this.svg.getBoundingClientRect(), { offsetWidth: width, offsetHeight: height } = this.tip;
    const right = box.left + point.px + GAP, left = box.left + point.px - GAP - width;
    const roomRight = document.documentElement.clientWidth - right - width;
    const x = roomRight >= 0 || roomRight >= left ? Math.min(right, document.documentElement.clientWidth - width) : Math.max(0, left);
    const covers = x < box.left + point.px + GAP / 2 && x + width > box.left + point.px - GAP / 2;
    const y = covers ? point.py - height - GAP : point.py - height / 2;
    this.tip.style.left = `${x}px`;
    this.tip.style.top = `${box.top + y}px`;
  }

  step(direction, alongLine) {
    const points = this.points();
    if (!points.length) return;
    const now = points.findIndex(p => this.current && p.line === this.current.line && p.i === this.current.i);
    if (now < 0) return this.show(points[0]);
    if (alongLine) return this.show(points[Math.max(0, Math.min(points.length - 1, now + direction))]);
    const lines = [...new Set(points.map(p => p.line))], here = lines.indexOf(points[now].line);
    const line = lines[(here + direction + lines.length) % lines.length];
    const near = (a, b) => Math.abs(a.px - points[now].px) <= Math.abs(b.px - points[now].px) ? a : b;
    this.show(points.filter(p => p.line === line).reduce(near));
  }

  listen() {
    const place = event => {
      const box = this.svg.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const unzoom = () => { this.zoom = null; this.draw(); };
    this.svg.addEventListener("pointerdown", event => {
      this.drag = place(event);
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", event => {
      const here = place(event);
      if (this.drag) this.select(here);
      else if (event.pointerType === "mouse") this.show(this.nearest(here.x, here.y));
    });
    this.svg.addEventListener("pointerup", event => this.drag && this.release(place(event), event.pointerType));
    this.svg.addEventListener("pointercancel", () => { this.drag = null; this.show(null); });
    // What a finger has asked for stays until it taps elsewhere.
    this.svg.addEventListener("pointerleave", event => event.pointerType === "mouse" && !this.drag && this.show(null));
    addEventListener("pointerdown", event => this.svg.contains(event.target) || this.show(null));
    addEventListener("scroll", () => this.current && this.placeTip(this.current), { capture: true, passive: true });
    this.svg.addEventListener("blur", () => this.show(null));
    this.svg.addEventListener("dblclick", unzoom);
    this.reset.addEventListener("click", () => { unzoom(); this.svg.focus({ preventScroll: true }); });
    this.svg.addEventListener("keydown", event => {
      const moves = { ArrowRight: [1, true], ArrowLeft: [-1, true], ArrowDown: [1, false], ArrowUp: [-1, false] };
      if (event.key === "Escape") unzoom(); else if (moves[event.key]) this.step(...moves[event.key]); else return;
      event.preventDefault();
    });
  }

  // A drag that is flat zooms x alone, and one that is steep y alone.
  selection(here) {
    const frame = this.frame;
    const span = (a, b, low, high) => [Math.max(low, Math.min(a, b)), Math.min(high, Math.max(a, b))];
    let x = span(this.drag.x, here.x, frame.left, frame.right), y = span(this.drag.y, here.y, frame.top, frame.bottom);
    const wide = x[1] - x[0] > SMALLEST_DRAG, high = y[1] - y[0] > SMALLEST_DRAG;
    if (!wide && !high) return null;
    if (!wide) x = [frame.left, frame.right];
    if (!high) y = [frame.top, frame.bottom];
    return { x, y };
  }

  select(here) {
    const area = this.selection(here);
    this.show(null);
    if (area) this.overlay.innerHTML = `<rect class="selection" x="${area.x[0]}" y="${area.y[0]}"
      width="${area.x[1] - area.x[0]}" height="${area.y[1] - area.y[0]}"/>`;
  }

  release(here, pointer) {
    const area = this.selection(here);
    this.drag = null;
    if (!area) return this.show(this.nearest(here.x, here.y, pointer === "mouse" ? NEAR : Infinity));
    this.zoom = { x: area.x.map(p => this.x.valueAt(p)), y: area.y.toReversed().map(p => this.y.valueAt(p)) };
    this.draw();
  }
}
Plot.count = 0;
