// The page: sessions as they stand and what they say as they say it; gatherings, and a seat in them.
//
// All that is shown comes from two sources: snapshots, and the daemon's events behind them. An event has a number;
// whoever knows the last one can go away and come back without having missed anything.

import { get, hasToken, Refused, rememberToken, Stream, useToken, whenRefused } from "./asking.js";
import { CircleView, holderOf, named, phaseOf } from "./circle.js";
import { $, announce, drawList, sleep, store, stored, write } from "./drawing.js";
import { SessionView, STATES } from "./session.js";

const LOOK_AGAIN = 10_000;
const MOST_PATIENCE = 5_000;

// What the views know: all sessions and gatherings, the number of the newest event, and what is open:
// {take(event), refresh(), back(), close(), mine}.
const world = { sessions: [], circles: [], place: null, view: null, look, title };
let following = null;

// Coming in and leaving

function begin() {
  const link = location.hash.match(/^#token=(.+)$/);
  if (link) {
    useToken(decodeURIComponent(link[1]));
    // It stays in no history.
    history.replaceState(null, "", `/${stored("route")}`);
  } else if (!location.hash && stored("route")) {
    // Back leads from there to the list.
    history.replaceState(null, "", "/#/");
    history.pushState(null, "", `/${stored("route")}`);
  }
  if (rememberToken()) enter();
  else leave("");
}

async function enter() {
  $("entrance").hidden = true;
  following?.close();
  for (let wait = 500; ; wait = Math.min(wait * 2, MOST_PATIENCE)) {
    try {
      world.place = (await get("/v1/status")).seq;
      await look();
      break;
    } catch (error) {
      if (!hasToken()) return;
      connection(error instanceof Refused ? error.message : "The daemon does not answer; trying again", true);
      await sleep(wait);
    }
  }
  $("index").hidden = false;
  follow();
  route();
}

function leave(problem) {
  useToken("");
  following?.close();
  following = null;
  open(null);
  for (const id of ["index", "welcome"]) $(id).hidden = true;
  write($("entrance-problem"), problem);
  connection("Not connected", false);
  $("entrance").hidden = false;
  $("token").focus();
}

function connection(words, lost) {
  write($("connection"), words);
  $("connection").classList.toggle("lost", lost);
}

function follow() {
  following = new Stream("/v1/events", {
    from: world.place,
    take,
    connected: () => {
      connection("Connected", false);
      world.view?.back?.();
      lookSoon();
    },
    lost: (why) => connection(why ?? "Connection lost; trying again", true),
  });
}

// What happens

const CHANGES = new Set([
  "turn_started", "turn_ended", "needs_human", "pane_opened", "pane_closed", "program_changed",
  "piece", "gathering_opened", "gathering_phase", "gathering_paused", "gathering_left", "gathering_closed",
]);

function take(event) {
  world.place = event.seq;
  world.view?.take(event);
  const waited = world.sessions.some((one) => one.pane === event.pane && one.state === "needs_human");
  if (CHANGES.has(event.event) || (waited && ["text", "activity"].includes(event.event))) lookSoon();
}

let looking = 0;

function lookSoon() {
  if (looking) return;
  looking = setTimeout(() => {
    looking = 0;
    look().catch(() => {});
  }, 250);
}

async function look() {
  const before = new Map(world.sessions.map((one) => [one.session, one.state]));
  [world.sessions, world.circles] = await Promise.all([get("/v1/sessions"), get("/v1/gatherings")]);
  drawIndex();
  world.view?.refresh();
  const waiting = world.sessions.filter((one) => one.state === "needs_human");
  const news = waiting.filter((one) => before.get(one.session) !== "needs_human");
  if (news.length) announce(news.map((one) => `${one.title} needs a person`).join(". "));
  title();
}

function title() {
  const waiting = world.sessions.filter((one) => one.state === "needs_human").length;
  document.title = [world.view?.mine ? "◆ Your turn" : "", waiting ? `(${waiting})` : "", "streamrelay"].filter(Boolean).join(" ");
}

function drawIndex() {
  drawList($("sessions"), world.sessions, {
    key: (one) => one.session,
    href: (one) => `#/session/${encodeURIComponent(one.session)}`,
    title: (one) => one.title,
    state: (one) => [one.state, STATES[one.state] ?? one.state],
    about: (one) => [one.agent || one.program, one.pane, one.in_relay && "in a conversation"].filter(Boolean).join(" · "),
  });
  $("no-sessions").hidden = world.sessions.length > 0;
  drawList($("circles"), world.circles, {
    key: (one) => one.gathering,
    href: (one) => `#/circle/${encodeURIComponent(one.gathering)}`,
    title: named,
    state: (one) => [one.state === "running" ? "busy" : one.state === "closed" ? "ended" : "idle", one.state],
    about: (one) => [phaseOf(one), holderOf(one)?.name, `${one.participants.length} take part`].filter(Boolean).join(" · "),
  });
  $("circles-section").hidden = world.circles.length === 0;
}

// Where one is

function route() {
  const [, kind, id] = location.hash.match(/^#\/(\w+)\/(.+)$/) ?? [];
  store("route", kind ? location.hash : "");
  const make = { session: SessionView, circle: CircleView }[kind];
  open(make ? new make(world, decodeURIComponent(id)) : null);
  drawIndex();
}

function open(next) {
  world.view?.close();
  world.view = next;
  title();
  document.body.dataset.view = next ? "one" : "list";
  $("welcome").hidden = next !== null;
  next?.begin();
}

// Whoever looks again wants to see how it is

function again() {
  if (document.hidden || !hasToken() || !following) return;
  following.hurry();
  world.view?.back?.();
  lookSoon();
}

addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) begin();
  else if (following) route();
});
addEventListener("online", again);
addEventListener("pageshow", again);
document.addEventListener("visibilitychange", again);
setInterval(() => document.hidden || !following || look().catch(() => {}), LOOK_AGAIN);
$("skip").onclick = (event) => {
  event.preventDefault();
  $("view").focus();
};
$("entrance").onsubmit = (event) => {
  event.preventDefault();
  // The whole address may have been put in.
  useToken($("token").value.trim().replace(/^.*#token=/, ""));
  $("token").value = "";
  enter();
};
whenRefused(() => leave("The daemon refused this token. Run streamrelay web again for the present one."));
begin();
