// The home screen: every session and gathering as a card, and the latest output of all sessions.

import { get, now } from "./asking.js";
import { namedCircle, holderOf, phaseOf, stateOf } from "./circle.js";
import { councilState, namedCouncil } from "./council.js";
import { $, drawList, element, write, writeAgo } from "./drawing.js";
import { STATES } from "./session.js";

const KEPT = 60; // outputs
const LINES = 4; // of one output that are shown, blank ones left out
const MAX_COUNCILS = 10; // cards
const REST = 5; // seconds of silence after which an output is over, as in the journal

const VIA = { unknown: "typed or printed", activity: "tool call" };
const CONVERSATION = { relay: "in a relay", gathering: "in a gathering" };

// What a session takes part in, and the machine that keeps it if that is another one.
function conversationOf({ machines }, one) {
  const kind = CONVERSATION[one.in_relay.split("-", 1)[0]];
  const node = machines.nodeOf(one.in_relay);
  const linked = machines.linkedWith(one.pane);
  return [kind && node ? `${kind} of ${node}` : kind, linked.length ? `linked with ${linked.join(", ")}` : ""];
}

const last = (text) => text.split("\n").filter((line) => line.trim()).slice(-LINES).join("\n");

// The newest output of the sessions, the newest first: {pane, origin, text, until, seq}. What they are told is none of it.
// A session that has just started may say something before it is in the list of sessions.
export class Outputs {
  constructor() {
    this.all = [];
  }

  async fetch() {
    const fetched = await get(`/v1/latest?limit=${KEPT}`);
    this.all = fetched.map((output) => ({ ...output, text: last(output.text) })).filter((output) => output.text);
  }

  of(pane) {
    return this.all.find((output) => output.pane === pane);
  }

  // Returns whether the event changed anything.
  take(event) {
    if (event.event !== "text" && event.event !== "activity") return false;
    if (event.origin === "injected" || event.origin === "typed") return false;
    const newest = this.of(event.pane);
    if (!event.text.trim() || event.seq <= (newest?.seq ?? 0)) return false;
    const origin = event.event === "activity" ? "activity" : event.origin;
    const added = { pane: event.pane, origin, text: event.text, until: event.at, seq: event.seq };
    if (newest && newest.origin === origin && event.at - newest.until < REST) {
      added.text = last(`${newest.text}\n${event.text}`);
      this.all.splice(this.all.indexOf(newest), 1);
    }
    this.all.unshift(added);
    // The last output of each session stays, however long ago it was.
    if (this.all.length > 2 * KEPT) this.all = this.all.filter((output, at) => at < KEPT || this.of(output.pane) === output);
    return true;
  }
}

export function drawIndex(world) {
  const at = (one) => world.outputs.of(one.pane)?.until ?? 0;
  const waits = (one) => Number(one.state === "needs_human");
  const sessions = world.sessions.toSorted((one, other) => waits(other) - waits(one) || at(other) - at(one));
  drawList($("sessions"), sessions, { key: (one) => one.session, make: card, fill: (node, one) => fillSession(world, node, one) });
  const held = world.circles.filter((one) => one.state !== "closed");
  const over = world.circles.filter((one) => one.state === "closed");
  for (const [name, circles] of [["circles", held], ["finished", over]]) {
    drawList($(name), circles, { key: (one) => one.gathering, make: card, fill: fillCircle });
    $(`${name}-section`).hidden = circles.length === 0;
  }
  const councils = world.councils.slice(0, MAX_COUNCILS);
  drawList($("councils"), councils, { key: (one) => one.council, make: card, fill: fillCouncil });
  $("councils-section").hidden = councils.length === 0;
  $("no-sessions").hidden = world.sessions.length > 0;
  $("no-circle").hidden = world.circles.length > 0 || world.sessions.length === 0;
}

function card() {
  const title = element("bdi", { class: "title" });
  const about = element("span", { class: "about" }, element("span"), element("time"));
  return element("li", {}, element("a", {}, title, element("span"), element("span", { class: "last" }), about));
}

function fillCard(node, { href, title, state, words, text, quiet, about, at }) {
  const [link] = node.children;
  const [titled, stated, output, told] = link.children;
  link.setAttribute("href", href);
  link.classList.toggle("waits", state === "needs_human");
  if (href === location.hash) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
  write(titled, title);
  stated.className = `state ${state}`;
  write(stated, words);
  output.classList.toggle("quiet", quiet);
  write(output, text);
  write(told.firstElementChild, about.filter(Boolean).join(" · "));
  writeAgo(told.lastElementChild, at, now());
}

function fillSession(world, node, one) {
  const output = world.outputs.of(one.pane);
  const silent = one.state === "unknown" ? "Nothing listens to it yet." : "No output yet.";
  fillCard(node, {
    href: `#/session/${encodeURIComponent(one.session)}`,
    title: one.title,
    state: one.state,
    words: STATES[one.state] ?? one.state,
    text: output ? output.text.split("\n").at(-1).trim() : silent,
    quiet: output?.origin !== "program",
    about: [one.agent || one.program, one.pane, ...conversationOf(world, one)],
    at: output?.until,
  });
}

function fillCircle(node, one) {
  const holder = holderOf(one);
  const over = one.state === "closed";
  const people = `${one.participants.length} participants`;
  fillCard(node, {
    href: `#/circle/${encodeURIComponent(one.gathering)}`,
    title: namedCircle(one),
    ...stateOf(one),
    text: over ? one.harvest.trim().split("\n")[0] || "No harvest." : holder ? `The piece is with ${holder.name}.` : "",
    quiet: !over,
    about: over ? [one.rhythm, people] : [phaseOf(one), people],
    at: over ? one.closed_at : one.started_at,
  });
}

function fillCouncil(node, one) {
  fillCard(node, {
    href: `#/council/${encodeURIComponent(one.council)}`,
    title: namedCouncil(one),
    ...councilState(one),
    text: one.question || one.members.join(", "),
    quiet: !one.question,
    about: [one.messages === 1 ? "1 message" : `${one.messages} messages`, one.cost ? `$${one.cost.toFixed(2)}` : ""],
    at: one.created,
  });
}

// The feed, beside the cards when nothing else is open.
export class HomeView {
  constructor(world) {
    this.world = world;
    this.timer = 0;
  }

  begin() {
    $("home").hidden = false;
    this.draw();
    // Who comes back finds the place that they left.
    for (const id of ["index", "view"]) $(id).scrollTop = this.world.scrolled[id] ?? 0;
    const cards = [...document.querySelectorAll("nav .cards a")];
    cards.find((link) => link.getAttribute("href") === this.world.left)?.focus({ preventScroll: true });
  }

  close() {
    clearTimeout(this.timer);
    for (const id of ["index", "view"]) this.world.scrolled[id] = $(id).scrollTop;
    $("home").hidden = true;
  }

  take() {}

  refresh() {
    this.timer ||= setTimeout(() => this.draw(), 100);
  }

  draw() {
    this.timer = 0;
    const { outputs, sessions } = this.world;
    const known = new Map(sessions.map((one) => [one.pane, one]));
    const shown = outputs.all.filter((output) => known.has(output.pane)).slice(0, KEPT);
    drawList($("feed"), shown, {
      key: (output) => `${output.pane} ${output.until}`,
      make: () => element("li", {}, element("a", { class: "who" }, element("bdi")), element("span", { class: "via" }), element("time"), element("p")),
      fill: (node, output) => {
        const [who, via, time, text] = node.children;
        node.className = output.origin;
        who.setAttribute("href", `#/session/${encodeURIComponent(known.get(output.pane).session)}`);
        write(who.firstElementChild, known.get(output.pane).title);
        write(via, VIA[output.origin] ?? "");
        writeAgo(time, output.until, now());
        write(text, output.text);
      },
    });
    $("no-output").hidden = shown.length > 0 || sessions.length === 0;
    const example = sessions.find((one) => one.agent)?.pane ?? sessions[0]?.pane ?? "NAME";
    write($("try-send"), `${this.world.words.streamrelay("send")} ${example} 'hello' --wait`);
  }
}
