"use strict";
// What came out of a pane is hostile: it is only ever put into text nodes, and what cannot be seen is spelled out.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const seconds = (t) => t.toFixed(3);
const ODD = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029\ufff0-\uffff]/u;
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;

function element(name, classes, ...children) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  made.append(...children);
  return made;
}

function shown(text) {
  const made = document.createDocumentFragment();
  let plain = "";
  const flush = () => { if (plain) made.append(plain); plain = ""; };
  for (const one of text) {
    const code = one.codePointAt(0);
    if (one === "\n") { plain += " \u23ce "; }
    else if (ODD.test(one) && code !== 0x200d && code !== 0xad) {
      flush();
      made.append(element("span", "odd", "U+" + code.toString(16).toUpperCase().padStart(4, "0")));
    } else if (WIDE.test(one)) { flush(); made.append(element("span", "wide", one)); }
    else plain += one;
  }
  flush();
  return made;
}

// Pictures tell only what changed.
for (const pane of Object.values(data.panes)) {
  let rows = [];
  pane.snapshots = pane.snapshots.map(([t, height, changes]) => {
    rows = Array.from({ length: height }, (_, y) => rows[y] || null);
    for (const [y, row, state] of changes) rows[y] = row < 0 ? null : [row, state];
    return { t, rows };
  });
}

const VERDICTS = { program: "said", injected: "injected", typed: "typed", unknown: "of unknown origin", activity: "activity", gap: "gap", unsaid: "left out" };
const chosen = { line: -1, snapshot: 0, span: -1 };
const hidden = new Set();
const list = at("list");

function verdict(line) {
  return line.verdict === "unsaid" && line.live ? "shown live only" : VERDICTS[line.verdict];
}

function fill() {
  const wanted = at("find").value.replace(/\s+/g, "").toLowerCase();
  const fits = (line) => !hidden.has(line.verdict) && (line.text + line.rule).replace(/\s+/g, "").toLowerCase().includes(wanted);
  list.replaceChildren(...data.lines.flatMap((line, number) => {
    if (!fits(line)) return [];
    const made = element("li", "",
      element("span", "kind " + line.verdict, verdict(line)),
      element("span", "at", `${seconds(line.t)} s \u00b7 turn ${line.turn} \u00b7 ${line.rule}`),
      element("span", "text mono", line.text ? shown(line.text) : "(nothing)"));
    made.setAttribute("role", "option");
    made.id = "line-" + number;
    made.setAttribute("aria-selected", String(number === chosen.line));
    return [made];
  }));
  at("none").hidden = list.children.length > 0;
}

function choose(number, scroll) {
  chosen.line = number;
  chosen.span = -1;
  for (const one of list.children) one.setAttribute("aria-selected", String(one.id === "line-" + number));
  list.setAttribute("aria-activedescendant", "line-" + number);
  const here = at("line-" + number);
  if (here && scroll) here.scrollIntoView({ block: "nearest" });
  const line = data.lines[number];
  const pane = data.panes[line.pane];
  at("text").replaceChildren(line.text ? shown(line.text) : "(nothing)");
  at("verdict").replaceChildren(
    element("span", "kind " + line.verdict, verdict(line)), ` at ${seconds(line.t)} s`,
    line.seq === null ? "" : `, event ${line.seq}`, line.message === null ? "" : ", message ", line.message === null ? "" : shown(line.message));
  at("rule").replaceChildren(element("code", "", line.rule), ": ", line.why);
  history.replaceState(null, "", "#" + number);
  votes(line);
  const stands = standing(line, pane);
  const before = stands.filter((snapshot) => pane.snapshots[snapshot].t <= line.t);
  const time = at("time");
  time.max = Math.max(0, pane.snapshots.length - 1);
  ticks(stands, pane);
  show(before.at(-1) ?? stands[0] ?? nearest(pane, line.t));
}

function votes(line) {
  const end = line.end === null ? null : data.ends[line.end];
  const told = [end === null ? `${line.turn}, which has no end after this` : `${line.turn}, ended at ${seconds(end.t)} s by ${end.reason}, ${end.certain ? "certain" : "not certain"}`];
  if (end !== null && end.votes.length) {
    const rows = end.votes.map(([by, says, since]) => element("tr", "", element("td", "", by), element("td", "", says), element("td", "", seconds(since) + " s")));
    const head = element("thead", "", element("tr", "", ...["vote by", "says", "since"].map((word) => element("th", "", word))));
    told.push(element("table", "", head, element("tbody", "", ...rows)));
  }
  at("turn").replaceChildren(...told);
}

const standing = (line, pane) => pane.snapshots.flatMap(({ rows }, number) => rows.some((place) => place && line.rows.includes(place[0])) ? [number] : []);
const nearest = (pane, t) => Math.max(0, pane.snapshots.findLastIndex((snapshot) => snapshot.t <= t));

function ticks(stands, pane) {
  const last = Math.max(1, pane.snapshots.length - 1);
  const place = (made, from, to) => { made.style.left = `${100 * from / last}%`; if (to > from) made.style.width = `${100 * (to - from) / last}%`; return made; };
  const runs = [];
  for (const number of stands) {
    if (runs.length && runs.at(-1)[1] === number - 1) runs.at(-1)[1] = number; else runs.push([number, number]);
  }
  at("ticks").replaceChildren(
    ...runs.map(([from, to]) => place(element("i", "stands"), from, to)),
    ...pane.marks.map(([t]) => { const number = nearest(pane, t); return place(element("i"), number, number); }));
}

function show(number) {
  const line = data.lines[chosen.line];
  const pane = data.panes[line.pane];
  number = Math.min(Math.max(0, number), pane.snapshots.length - 1);
  if (number < 0) { at("screen").replaceChildren(); return; }
  chosen.snapshot = number;
  const snapshot = pane.snapshots[number];
  at("time").value = number;
  at("time").setAttribute("aria-valuetext", `${seconds(snapshot.t)} seconds`);
  at("when").textContent = `${seconds(snapshot.t)} s \u00b7 snapshot ${number + 1} of ${pane.snapshots.length}`;
  at("earlier").disabled = number === 0;
  at("later").disabled = number === pane.snapshots.length - 1;
  const until = number + 1 < pane.snapshots.length ? pane.snapshots[number + 1].t : Infinity;
  const marks = pane.marks.filter(([t]) => t >= snapshot.t && t < until).slice(0, 6);
  at("happened").replaceChildren(...marks.flatMap(([t, kind, text], index) => [index ? " \u00b7 " : "", `${seconds(t)} s ${kind} `, shown(text)]));
  const spans = new Set();
  at("screen").replaceChildren(...snapshot.rows.map((place) => {
    if (place === null) return element("div");
    const [, text, runs] = pane.rows[place[0]][place[1]];
    if (!line.rows.includes(place[0])) return element("div", "", shown(text));
    const made = element("div", "mine");
    const glyphs = Array.from(text);
    let from = 0;
    for (let index = 0; index < runs.length; index += 2) {
      const cells = element("span", "cells" + (runs[index + 1] === chosen.span ? " chosen" : ""), shown(glyphs.slice(from, from + runs[index]).join("")));
      cells.dataset.span = runs[index + 1];
      made.append(cells);
      spans.add(runs[index + 1]);
      from += runs[index];
    }
    return made;
  }));
  bytes(pane, [...spans].sort((one, other) => pane.spans[one][1] - pane.spans[other][1]));
  const mine = at("screen").querySelector(".mine");
  if (mine) at("screen").scrollTop = Math.max(0, mine.offsetTop - at("screen").clientHeight / 2);
}

function bytes(pane, spans) {
  at("bytes").replaceChildren(...spans.map((number) => {
    const [t, start, stop, raw] = pane.spans[number];
    const seeded = start === stop;
    const made = element("button", "",
      element("span", "at", seeded ? "before" : seconds(t) + " s"),
      element("span", "at", seeded ? "no bytes" : `bytes ${start} to ${stop}`),
      element("span", "raw mono", seeded ? "it stood on the screen when it was read from tmux" : shown(raw)));
    made.type = "button";
    made.dataset.span = number;
    made.setAttribute("aria-pressed", String(number === chosen.span));
    return element("li", "", made);
  }));
  at("unseen").hidden = spans.length > 0;
}

function pick(event) {
  const holder = event.target.closest("[data-span]");
  if (!holder) return;
  const span = Number(holder.dataset.span);
  chosen.span = chosen.span === span ? -1 : span;
  const top = at("screen").scrollTop;
  show(chosen.snapshot);
  at("screen").scrollTop = top;
  at("bytes").querySelector(`[data-span="${span}"]`)?.focus({ preventScroll: true });
}

function step(distance) {
  const shownLines = Array.from(list.children, (one) => Number(one.id.slice(5)));
  const here = shownLines.indexOf(chosen.line);
  const next = shownLines[Math.min(Math.max(0, here + distance), shownLines.length - 1)];
  if (next !== undefined) choose(next, true);
}

list.addEventListener("click", (event) => {
  const line = event.target.closest("li");
  if (line) { choose(Number(line.id.slice(5)), false); if (matchMedia("(max-width: 46rem)").matches) at("text").scrollIntoView(); }
});
list.addEventListener("keydown", (event) => {
  const distance = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9 }[event.key];
  if (distance === undefined) return;
  event.preventDefault();
  step(distance);
});
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input") || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = { j: () => step(1), k: () => step(-1), ",": () => show(chosen.snapshot - 1), ".": () => show(chosen.snapshot + 1), "/": () => at("find").focus() }[event.key];
  if (!act || chosen.line < 0) return;
  event.preventDefault();
  act();
});
at("find").addEventListener("input", fill);
at("find").addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === "ArrowDown") { event.preventDefault(); list.focus(); if (!at("line-" + chosen.line)) step(0); } });
at("time").addEventListener("input", () => show(Number(at("time").value)));
at("earlier").addEventListener("click", () => show(chosen.snapshot - 1));
at("later").addEventListener("click", () => show(chosen.snapshot + 1));
at("decided").addEventListener("click", () => choose(chosen.line, true));
at("screen").addEventListener("click", pick);
at("bytes").addEventListener("click", pick);

for (const kind of Object.keys(VERDICTS).filter((one) => data.lines.some((line) => line.verdict === one))) {
  const made = element("button", "", `${VERDICTS[kind]} ${data.lines.filter((line) => line.verdict === kind).length}`);
  made.type = "button";
  made.setAttribute("aria-pressed", "true");
  made.addEventListener("click", () => {
    hidden[hidden.has(kind) ? "delete" : "add"](kind);
    made.setAttribute("aria-pressed", String(!hidden.has(kind)));
    fill();
  });
  at("kinds").append(made);
}
fill();
const linked = /^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : -1;
const first = data.lines[linked] ? linked : Math.max(0, data.lines.findIndex((line) => line.verdict === "program"));
if (data.lines.length) choose(first, true); else document.querySelector("main").hidden = true;
