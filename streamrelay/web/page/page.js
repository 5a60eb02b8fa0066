// The page: sessions as they stand and what they say as they say it; gatherings, and a seat in them.
//
// All that is shown comes from two sources: snapshots, and the daemon's events behind them. An event has a number;
// a page that knows the last one can close and come back without a gap.

import { get, hasToken, now, Refused, rememberToken, Stream, useToken, whenRefused } from "./asking.js";
import { CircleView } from "./circle.js";
import { CouncilView } from "./council.js";
import { $, announce, offerCopies, refreshTimes, sleep, store, stored, write } from "./drawing.js";
import { drawIndex, HomeView, Outputs } from "./home.js";
import { drawMachines, Machines, offerNames } from "./machines.js";
import { SessionView } from "./session.js";

const LOOK_AGAIN = 10_000;
const MAX_BACKOFF = 5_000;
const COUNCILS_EVERY = 2_000;
const MACHINES_EVERY = 3_000;

// What the views know: all sessions, gatherings and the latest output, the number of the newest event, and what is open:
// {begin(), take(event), refresh(), back(), close(), mine}. `left` is the address that was open before.
const world = {
  maySend: true, sessions: [], circles: [], councils: [], machines: new Machines(), outputs: new Outputs(), place: null, view: null, look, title, words: wordsFor(""), scrolled: {}, left: "",
};
let following = null;
let councilsAt = 0;

// The commands that are shown address the daemon's tmux server.
function wordsFor(socket) {
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  const option = !socket || /\/tmux-\d+\/default$/.test(socket) ? "" : ` -S ${quoted(socket)}`;
  return { tmux: `tmux${option}`, streamrelay: (command) => `streamrelay ${command}${option}`, quoted };
}

// Connecting and leaving

function begin() {
  const link = location.hash.match(/^#token=(.+)$/);
  if (link) {
    useToken(decodeURIComponent(link[1]));
    // It stays in no history.
    history.replaceState(null, "", "/");
  }
  if (!location.hash && stored("route")) {
    // Back leads from there to the home screen.
    history.replaceState(null, "", "/#/");
    history.pushState(null, "", `/${stored("route")}`);
  }
  if (rememberToken()) enter();
  else leave("");
}

async function enter() {
  $("entrance").hidden = true;
  following?.close();
  for (let wait = 500; ; wait = Math.min(wait * 2, MAX_BACKOFF)) {
    try {
      const [status, page] = await Promise.all([get("/v1/status"), get("/v1/page")]);
      world.maySend = page.send;
      world.place = status.seq;
      world.words = wordsFor(status.tmux);
      await Promise.all([world.outputs.fetch(), look()]);
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
  $("index").hidden = true;
  write($("entrance-problem"), problem);
  connection("Not connected", false);
  document.body.dataset.view = "entrance";
  $("entrance").hidden = false;
  $("token").focus();
}

function connection(words, lost) {
  write($("connection"), words);
  $("connection").classList.toggle("lost", lost);
  $("connection").classList.toggle("on", words === "Connected");
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
  "link_created", "link_spent", "link_extended", "link_suspended", "link_closed", "relay_opened", "relay_paused", "relay_left", "relay_closed",
  "piece", "gathering_opened", "gathering_phase", "gathering_paused", "gathering_left", "gathering_closed",
]);

function take(event) {
  world.place = event.seq;
  world.view?.take(event);
  if (world.outputs.take(event)) drawSoon();
  const waited = world.sessions.some((one) => one.pane === event.pane && one.state === "needs_human");
  if (CHANGES.has(event.event) || (waited && ["text", "activity"].includes(event.event))) lookSoon();
}

// At most so often, whatever happens; the view itself draws at once what is its own.
function every(ms, work) {
  let timer = 0;
  return () => {
    timer ||= setTimeout(() => {
      timer = 0;
      work();
    }, ms);
  };
}

const lookSoon = every(250, () => look().catch(() => {}));
const drawSoon = every(250, () => {
  drawIndex(world);
  if (world.view instanceof HomeView) world.view.refresh();
});

// Councils are no events of the journal: they are asked for with the rest, but not each time.
async function lookAtCouncils() {
  if (Date.now() - councilsAt < COUNCILS_EVERY) return;
  councilsAt = Date.now();
  world.councils = await get("/v1/councils");
}

async function look() {
  const before = new Map(world.sessions.map((one) => [one.session, one.state]));
  [world.sessions, world.circles] = await Promise.all([get("/v1/sessions"), get("/v1/gatherings"), lookAtCouncils(), world.machines.fetch()]);
  drawIndex(world);
  drawMachines(world);
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

// Every address names a view, so Back and Forward of the browser work

function route() {
  const [, kind, id] = location.hash.match(/^#\/(\w+)\/(.+)$/) ?? [];
  const make = { session: SessionView, circle: CircleView, council: CouncilView }[kind];
  store("route", make ? location.hash : "");
  open(make ? new make(world, decodeURIComponent(id)) : new HomeView(world));
  world.left = make ? location.hash : "";
}

function open(next) {
  world.view?.close();
  world.view = next;
  title();
  document.body.dataset.view = next instanceof HomeView ? "home" : "one";
  drawIndex(world);
  next?.begin();
}

// A person who looks again wants to see how it is

function again() {
  if (document.hidden || !hasToken() || !following) return;
  following.hurry();
  world.view?.back?.();
  refreshTimes(now());
  lookSoon();
}

addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) begin();
  else if (following) route();
});
addEventListener("online", again);
addEventListener("pageshow", again);
document.addEventListener("visibilitychange", again);
setInterval(() => {
  if (document.hidden || !following) return;
  refreshTimes(now());
  look().catch(() => {});
}, LOOK_AGAIN);
// Nothing is published when a machine goes away, or while something waits for it.
setInterval(async () => {
  if (document.hidden || !following || world.machines.peers.length === 0) return;
  await world.machines.fetch().catch(() => {});
  drawMachines(world);
  world.view?.refresh();
}, MACHINES_EVERY);
$("skip").onclick = (event) => {
  event.preventDefault();
  $("view").focus();
};
$("entrance").onsubmit = (event) => {
  event.preventDefault();
  // The whole address may have been pasted.
  useToken($("token").value.trim().replace(/^.*#token=/, ""));
  $("token").value = "";
  enter();
};
whenRefused(() => leave("The daemon refused this token. Run streamrelay web again for the present one."));
offerCopies();
offerNames(world);
begin();
