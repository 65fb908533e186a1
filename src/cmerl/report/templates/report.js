"use strict";
// Draws the figures of a report from the JSON in #data. Colours come from the style sheet, so light and dark follow it.
let data = JSON.parse(document.getElementById("data").textContent);
const shown = {axes: "linear", bands: true, seeds: false, hidden: new Set()};
const seen = new Set();  // figures that have come into view: the others wait
const dark = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("screen and (max-width: 46rem)");
const CONFIG = {responsive: true, displaylogo: false, displayModeBar: false};

function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
function compact(v) { return Math.abs(v) >= 1e5 || (v && Math.abs(v) < 1e-3) ? v.toExponential(2) : String(Number(v.toPrecision(4))); }

function layout(extra) {
  return Object.assign({
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false,
    font: {family: getComputedStyle(document.body).fontFamily, size: narrow.matches ? 12 : 13, color: css("--text")},
    margin: {l: 52, r: 12, t: 10, b: 44}, hovermode: "x unified",
    hoverlabel: {bgcolor: css("--panel"), bordercolor: css("--line"), font: {color: css("--text"), size: 13}},
  }, extra);
}

function axis(title, extra) {
  return Object.assign({
    title: {text: title, standoff: 8}, gridcolor: css("--grid"), linecolor: css("--line"), zeroline: false,
    automargin: true, fixedrange: narrow.matches, exponentformat: "e",
  }, extra);
}

function logAxis(range) {  // few decades need ticks between the powers of ten, many need not even all of those
  if (!range) return {type: "log"};
  const decades = range[1] - range[0], every = Math.ceil(decades / 7), ticks = [];
  for (let power = Math.floor(range[0]); power <= range[1]; power++) {
    for (const digit of decades > 2.2 ? [1] : [1, 2, 5]) {
      if (power % every === 0) ticks.push(digit * 10 ** power);
    }
  }
  return {type: "log", rangemode: "normal", range: range, tickvals: ticks, ticktext: ticks.map(plainNumber)};
}

function plainNumber(v) {
  if (v >= 1e6 || v < 1e-4) return "10<sup>" + Math.round(Math.log10(v)) + "</sup>";
  return v >= 1 ? v.toLocaleString("en-GB") : String(Number(v.toPrecision(1)));
}

function span(values) {  // of what is positive, in powers of ten
  const positive = values.filter((v) => v > 0);
  if (!positive.length) return null;
  const low = positive.reduce((a, b) => Math.min(a, b)), high = positive.reduce((a, b) => Math.max(a, b));
  const room = 0.04 * Math.max(Math.log10(high / low), 0.5);
  return [Math.log10(low) - room, Math.log10(high) + room];
}

// --- curves over episodes ---

function drawCurves(element, figure) {
  const lines = figure.lines.filter((l) => l.own || !shown.hidden.has(l.agent));
  const logX = figure.toggle && shown.axes === "log", logY = logX || figure.log;
  const traces = [];
  const show = (values) => logY ? values.map((v) => v > 0 ? v : null) : values;
  for (const l of lines) {
    if (l.low === null || !shown.bands) continue;
    const floor = logY ? Math.min(...l.mean.filter((v) => v > 0)) / 10 : null;
    const low = logY ? l.low.map((v) => Math.max(v, floor)) : l.low, high = logY ? l.high.map((v) => Math.max(v, floor)) : l.high;
    traces.push({x: l.x.concat(l.x.slice().reverse()), y: low.concat(high.slice().reverse()), fill: "toself",
      fillcolor: data.agents[l.agent].colour + "2e", line: {width: 0}, mode: "lines", hoverinfo: "skip"});
  }
  for (const l of lines) {
    if (!shown.seeds || !l.seeds) continue;
    l.seeds.y.forEach((y, i) => traces.push({
      x: l.seeds.x, y: show(y), mode: "lines", opacity: 0.45, line: {color: data.agents[l.agent].colour, width: 1},
      hovertemplate: "seed " + l.seeds.names[i] + ": %{y:.4g}<extra></extra>",
    }));
  }
  for (const l of lines) {
    const look = data.agents[l.agent % data.agents.length], own = OWN[l.agent % OWN.length];
    traces.push({
      name: l.name || look.name + (l.suffix || ""), x: l.x, y: show(l.mean), mode: l.x.length < 2 ? "markers" : "lines",
      line: {color: l.own ? own : look.colour, dash: l.dash || (l.own ? "solid" : look.dash), width: l.width || 2.25},
      marker: {color: l.own ? own : look.colour, size: 7},
      customdata: l.mean.map((m, i) => [compact(m), l.low === null ? "" : " (" + compact(l.low[i]) + " – " + compact(l.high[i]) + ")"]),
      hovertemplate: "%{customdata[0]}%{customdata[1]}",
    });
  }
  const range = logY ? span(lines.flatMap((l) => l.mean)) : null;
  const y = logY ? axis(figure.y, logAxis(range)) : axis(figure.y, {rangemode: figure.zero || figure.toggle ? "tozero" : "normal"});
  if (figure.unit) Object.assign(y, {range: [-0.03, 1.03], rangemode: "normal", tickformat: ".0%"});
  if (figure.zero) Object.assign(y, {zeroline: true, zerolinecolor: css("--quiet"), zerolinewidth: 1});
  const x = logX ? axis("episode", logAxis(span(lines.flatMap((l) => l.x)))) : axis("episode", {rangemode: "tozero"});
  const rules = figure.rules || [];
  const own = lines.some((l) => l.own);
  Plotly.react(element, traces, layout({
    xaxis: x, yaxis: y,
    showlegend: own, legend: {orientation: "h", y: 1.02, yanchor: "bottom", x: 0},
    margin: {l: 52, r: rules.length ? 28 : 12, t: 10, b: 44},
    shapes: rules.map((r) => ({type: "line", xref: "paper", x0: 0, x1: 1, y0: r.y, y1: r.y, line: {color: css("--quiet"), width: 1, dash: "dot"}})),
    annotations: rules.map((r) => ({xref: "paper", x: 1, y: r.y, text: r.text, showarrow: false, xanchor: "left", yanchor: "middle", xshift: 3, font: {color: css("--quiet")}})),
  }), CONFIG);
}
const OWN = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C"];

// --- estimates with intervals ---

function drawDots(element, figure) {
  const rows = figure.rows.filter((r) => !shown.hidden.has(r.agent)).reverse();
  const labels = rows.map((r, i) => i);
  element.style.height = 84 + 34 * Math.max(rows.length, 1) + "px";
  const has = rows.map((r) => r.low !== null);
  Plotly.react(element, [{
    x: rows.map((r) => r.value), y: labels, mode: "markers", type: "scatter",
    marker: {color: rows.map((r) => data.agents[r.agent].colour), size: 10},
    error_x: {type: "data", symmetric: false, thickness: 2, width: 4, color: css("--quiet"),
      array: rows.map((r, i) => has[i] ? r.high - r.value : 0), arrayminus: rows.map((r, i) => has[i] ? r.value - r.low : 0)},
    customdata: rows.map((r, i) => r.label + ": " + compact(r.value) + (has[i] ? " (" + compact(r.low) + " – " + compact(r.high) + ")" : "")),
    hovertemplate: "%{customdata}<extra></extra>",
  }], layout({
    hovermode: "closest", margin: {l: 16, r: 16, t: 8, b: 44},
    xaxis: axis(figure.x, {range: [-0.04, 1.04], dtick: 0.25}),
    yaxis: axis("", {tickvals: labels, ticktext: rows.map((r) => wrap(r.label)), range: [-0.6, rows.length - 0.4], showgrid: false}),
    shapes: figure.middle === undefined ? [] : [{type: "line", yref: "paper", y0: 0, y1: 1, x0: figure.middle, x1: figure.middle, line: {color: css("--quiet"), width: 1, dash: "dot"}}],
  }), CONFIG);
}
function wrap(label) { return narrow.matches && label.length > 18 ? label.replace(" over ", "<br>over ") : label; }

// --- maps over states ---

const COUNTS = [0, 1, 10, 100, 1000, 10000, 100000];
const SCALES = {value: "Viridis", sigma: "Cividis", visits: [[0, "#eef3f8"], [0.5, "#6baed6"], [1, "#08306b"]]};

function mapOf(block) { return data.maps[block.querySelector("select").value]; }

function drawMaps(block) {
  const map = mapOf(block), slider = block.querySelector("input");
  slider.max = map.episodes.length - 1;
  const at = Math.min(slider.value === "" ? map.episodes.length - 1 : Number(slider.value), map.episodes.length - 1);
  slider.value = at;
  block.querySelector("output").textContent = map.episodes[at];
  block.querySelector("[data-words]").textContent = map.words;
  const panels = block.querySelector(".panels");
  panels.className = "panels" + (map.kind === "line" ? " lines" : map.rows !== undefined && map.rows <= 2 ? " flat" : "");
  for (const name of ["value", "sigma", "visits", "policy"]) {
    const element = document.getElementById(block.dataset.maps + "-map-" + name);
    element.hidden = !map[name];
    if (!map[name]) continue;
    if (map.kind === "line") drawLine(element, map, name, at);
    else drawHeat(element, map, name, at);
  }
}

const PANEL_TITLES = {value: "value V₁ (optimistic)", sigma: "uncertainty σ", visits: "visits", policy: "greedy action"};

function panelLayout(name, extra) {
  return layout(Object.assign({
    title: {text: PANEL_TITLES[name], font: {size: 14, color: css("--text")}, x: 0.02, xanchor: "left", y: 0.98, yanchor: "top"},
    margin: {l: 40, r: 8, t: 32, b: 38}, hovermode: "closest",
  }, extra));
}

function drawLine(element, map, name, at) {
  const all = map[name].flat().filter((v) => v !== null);
  const low = all.reduce((a, b) => Math.min(a, b), 0), high = all.reduce((a, b) => Math.max(a, b), 0);
  const policy = name === "policy";
  Plotly.react(element, [{x: map.x, y: map[name][at], mode: "lines", type: name === "visits" ? "bar" : "scatter", marker: {color: css("--accent")},
    line: {color: css("--accent"), shape: policy ? "hv" : "linear", width: 2}, hovertemplate: "%{x:.3g}: %{y:.4g}<extra></extra>"}],
  panelLayout(name, {xaxis: axis(map.axes[0], {}), yaxis: axis("", policy
    ? {tickvals: map.actions.map((a, i) => i), ticktext: map.actions, range: [-0.5, map.actions.length - 0.5]}
    : {range: [low, high + 0.05 * (high - low || 1)]})}), CONFIG);
}

function drawHeat(element, map, name, at) {
  const policy = name === "policy", counts = name === "visits", raw = map[name][at];
  // A goal is visited a hundred times as often as the way to it: counts are coloured by their logarithm.
  const colour = (v) => counts && v !== null ? Math.log10(1 + v) : v;
  const z = raw.map((row) => row.map(colour));
  const all = map[name].flat(2).filter((v) => v !== null).map(colour);
  const cells = map.kind === "cells", few = cells && map.x.length <= (narrow.matches && map.rows > 2 && !(policy && map.arrows) ? 4 : 12);
  const range = policy ? [-0.5, map.actions.length - 0.5] : map.ranges[name] ? map.ranges[name].map(colour)
    : [Math.min(0, all.reduce((a, b) => Math.min(a, b), Infinity)), all.reduce((a, b) => Math.max(a, b), -Infinity)];
  const trace = {type: "heatmap", x: map.x, y: map.y, z: z, hoverongaps: false, xgap: cells ? 2 : 0, ygap: cells ? 2 : 0,
    zmin: range[0], zmax: range[1],
    colorscale: policy ? steps(map.actions.length) : SCALES[name], reversescale: false,
    colorbar: Object.assign({orientation: "h", thickness: 10, y: cells ? -0.02 : -0.12, yanchor: "top", len: 1, outlinewidth: 0, tickfont: {size: 11}, nticks: 5},
      policy ? {tickvals: map.actions.map((a, i) => i), ticktext: map.arrows || map.actions} : {},
      counts ? {tickvals: COUNTS.map(colour), ticktext: COUNTS.map(String)} : {})};
  const said = (v) => v === null ? "" : policy ? (map.arrows || map.actions)[v] : counts ? String(v) : compact(Number(v.toPrecision(name === "sigma" ? 2 : 3)));
  trace.text = raw.map((row) => row.map(said));
  trace.hovertemplate = "%{text}<extra></extra>";
  if (few) Object.assign(trace, {texttemplate: "%{text}", textfont: {size: policy && map.arrows ? 16 : 12}});
  Plotly.react(element, [trace], panelLayout(name, {
    plot_bgcolor: cells ? css("--line") : "rgba(0,0,0,0)", margin: {l: cells ? 8 : 40, r: 8, t: 32, b: cells ? 44 : 60},
    xaxis: axis(cells ? "" : map.axes[0], Object.assign({side: "bottom", constrain: "domain"}, cells ? {showgrid: false, showticklabels: false, ticks: ""} : {showgrid: false, title: {text: ""}})),
    yaxis: axis(cells ? "" : map.axes[1], Object.assign(cells ? {showgrid: false, showticklabels: false, ticks: "", autorange: "reversed"} : {showgrid: false, title: {text: ""}}, cells && map.rows > 2 ? {scaleanchor: "x", constrain: "domain"} : {})),
  }), CONFIG);
}

function steps(count) {  // one flat colour an action
  return Array.from({length: count}, (_, i) => [[i / count, OWN[i % OWN.length]], [(i + 1) / count, OWN[i % OWN.length]]]).flat();
}

// --- the page ---

function drawFigure(id) {
  const element = document.getElementById(id), figure = data.figures[id];
  if (element && figure) (figure.kind === "dots" ? drawDots : drawCurves)(element, figure);
}

function drawSeen() {
  seen.forEach((key) => {
    const block = document.querySelector('[data-maps="' + key + '"]');
    if (block) drawMaps(block); else drawFigure(key);
  });
}

const watcher = new IntersectionObserver((entries) => entries.forEach((entry) => {
  const key = entry.target.dataset.maps || entry.target.id;
  if (!entry.isIntersecting || seen.has(key)) return;
  seen.add(key);
  if (entry.target.dataset.maps) drawMaps(entry.target); else drawFigure(key);
}), {rootMargin: "400px"});

function everything() {  // for print, and for whoever wants all figures now
  Object.keys(data.figures).forEach((id) => seen.add(id));
  document.querySelectorAll("[data-maps]").forEach((block) => seen.add(block.dataset.maps));
  drawSeen();
}

const PAPER = {wide: 680, column: 330, high: 240, flat: 144};  // pixels on A4, as in the style sheet

function drawn() { return [...document.querySelectorAll(".plot:not([hidden])")].filter((element) => element.data); }

function toPaper() {  // a browser lays out for paper only after this: figures get their size and light colours now
  document.documentElement.dataset.paper = "";
  everything();
  drawn().forEach((element) => Plotly.relayout(element, {
    autosize: false, width: element.closest(".wide, .short") ? PAPER.wide : PAPER.column,
    height: parseFloat(element.style.height) || (element.closest(".flat") ? PAPER.flat : PAPER.high),
  }));
}

function toScreen() {
  delete document.documentElement.dataset.paper;
  drawn().forEach((element) => { delete element.layout.width; delete element.layout.height; element.layout.autosize = true; });
  drawSeen();
  drawn().forEach((element) => Plotly.Plots.resize(element));
}

function listen() {
  document.querySelectorAll("[data-axes]").forEach((button) => button.addEventListener("click", () => {
    shown.axes = button.dataset.axes;
    document.querySelectorAll("[data-axes]").forEach((b) => b.setAttribute("aria-pressed", String(b === button)));
    drawSeen();
  }));
  document.querySelectorAll("[data-agent]").forEach((button) => button.addEventListener("click", () => {
    const agent = Number(button.dataset.agent), hide = !shown.hidden.has(agent);
    if (hide) shown.hidden.add(agent); else shown.hidden.delete(agent);
    button.setAttribute("aria-pressed", String(!hide));
    drawSeen();
  }));
  document.querySelectorAll("[data-bands]").forEach((button) => button.addEventListener("click", () => {
    shown.bands = !shown.bands;
    button.setAttribute("aria-pressed", String(shown.bands));
    drawSeen();
  }));
  document.querySelectorAll("[data-seeds]").forEach((button) => button.addEventListener("click", () => {
    shown.seeds = !shown.seeds;
    button.setAttribute("aria-pressed", String(shown.seeds));
    drawSeen();
  }));
  document.querySelectorAll("[data-maps]").forEach((block) => {
    block.querySelector("input").addEventListener("input", () => drawMaps(block));
    block.querySelector("select").addEventListener("change", () => drawMaps(block));
  });
  document.querySelectorAll(".plot[id]").forEach((element) => { if (data.figures[element.id]) watcher.observe(element); });
  document.querySelectorAll("[data-maps]").forEach((block) => watcher.observe(block));
}

// A live page asks for itself anew, without plotly.js, and takes over what has changed.
async function refresh() {
  const answer = await fetch("page", {cache: "no-store"});
  if (!answer.ok) throw new Error(answer.statusText);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const before = Object.keys(data.figures).concat(Object.keys(data.maps)).join();
  data = JSON.parse(fresh.getElementById("data").textContent);
  if (Object.keys(data.figures).concat(Object.keys(data.maps)).join() !== before) {
    watcher.disconnect(); seen.clear(); shown.hidden.clear(); Object.assign(shown, {axes: "linear", bands: true, seeds: false});
    document.querySelector("main").replaceWith(fresh.querySelector("main"));
    document.title = fresh.title;
    listen();
    return;
  }
  fresh.querySelectorAll("[data-live]").forEach((part) => {
    document.querySelector('[data-live="' + part.dataset.live + '"]').innerHTML = part.innerHTML;
  });
  drawSeen();
}

async function follow() {
  let version = null;
  for (;;) {
    try {
      const answer = await fetch("version", {cache: "no-store"});
      const now = await answer.text();
      if (version !== null && now !== version) await refresh();
      version = now;
    } catch (error) {
      const state = document.querySelector('[data-live="state"]');
      if (!state.querySelector(".gone")) state.insertAdjacentHTML("afterbegin", '<p class="gone alarm">cmerl watch has stopped; this page shows what it last saw.</p>');
      version = "";
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function start() {
  const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent.trim()), (c) => c.charCodeAt(0));
  const script = document.createElement("script");
  script.textContent = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  document.head.append(script);
  listen();
  dark.addEventListener("change", drawSeen);
  narrow.addEventListener("change", drawSeen);
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", toScreen);
  document.body.dataset.ready = "true";
  if ("livePage" in document.body.dataset) follow();
}
start();
