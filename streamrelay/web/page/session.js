// One session: what it said, from the journal and as it says it; what is on its screen and not final; messages to it.

import { Composer } from "./composer.js";
import { get, post, Stream } from "./asking.js";
import { $, clockTime, element, Log, plain, write } from "./drawing.js";
import { lagOf, standsAs, waitingOf } from "./machines.js";

const TAIL = 4000; // events back from the newest in which the last words are looked for
const PAGE = 1000;
// Whose words a text event holds, by its origin. A message's id begins with what delivers it.
const BY = { typed: "Typed in the terminal", unknown: "Typed or printed", activity: "Tool call" };
const SENDERS = {
  page: "Message from this page",
  link: "Message over a link",
  relay: "Message from its relay",
  gathering: "Message from its gathering",
  stop: "Notice of streamrelay",
};
export const STATES = { idle: "idle", busy: "busy", needs_human: "needs human", ended: "ended", unknown: "unknown" };

// Who has sent a message, by its id: it begins with what delivers it, and ends with the machine that sent it.
export function senderOf(machines, messageId, pane) {
  const node = machines.nodeOf(messageId);
  const id = node ? messageId.slice(0, -node.length - 1) : messageId;
  const [, link, number] = id.match(/^(link-[^-]+)-(.+)$/) ?? [];
  const other = link ? machines.otherSide(link, pane) : "";
  // A number is a delivery; anything else of a link is streamrelay's own notice.
  if (other) return /^\d+$/.test(number) ? `${other}, over a link` : `Notice about the link with ${other}`;
  const kind = id.split("-", 1)[0];
  if (node && kind === "page") return `Message from the page of ${node}`;
  return (SENDERS[kind] ?? "Message") + (node ? `, from ${node}` : "");
}

const unnumbered = (label) => label.replace(/ \(\d+\)$/, "");

function remoteAdvice({ peer }) {
  const waits = waitingOf(peer);
  const kept = peer.state === "present" ? "" : ` Messages for ${peer.name} wait here, on disk, and are sent when it is back.`;
  if (waits) return `${waits} waiting for ${peer.name} for ${lagOf(peer)}: ${peer.why}.${kept}`;
  return kept ? `${peer.name} is ${standsAs(peer)}.${kept}` : "";
}

export class SessionView {
  constructor(world, id) {
    this.world = world;
    this.id = id;
    this.shown = 0; // the number of the newest event that was drawn
    this.early = []; // what happens while the past is fetched
    this.closed = false;
  }

  get session() {
    return this.world.sessions.find((one) => one.session === this.id) ?? this.world.machines.session(this.id);
  }

  // Of a session of another machine, this one knows what its links and relays have delivered.
  get isRemote() {
    return this.world.machines.nodeOf(this.id) !== "" && Boolean(this.session?.peer);
  }

  async begin() {
    this.log = new Log($("said"), $("newest"));
    write($("session-problem"), "");
    $("session").hidden = false;
    $("tools").open = false;
    $("hear").onclick = () => this.hear();
    this.composer = new Composer(this.id, () => this.session, this.world.maySend);
    this.refresh();
    $("session-title").focus({ preventScroll: true });
    this.live = this.isRemote ? null : new Stream(`/v1/live?session=${encodeURIComponent(this.id)}`, {
      take: (lines) => {
        $("shown").hidden = !lines.some((line) => line.trim());
        $("shown").textContent = lines.map(plain).join("\n");
      },
    });
    try {
      await this.past();
    } catch (error) {
      if (!this.closed) write($("session-problem"), error.message);
    }
    const early = this.early;
    this.early = null;
    for (const event of early) this.take(event);
  }

  back() {
    this.live?.hurry();
  }

  close() {
    this.closed = true;
    this.live?.close();
    this.log?.close();
    this.composer?.close();
    $("session").hidden = true;
    $("shown").hidden = true;
  }

  async past() {
    const of = this.isRemote ? "" : `&session=${encodeURIComponent(this.id)}`;
    for (let after = Math.max(0, this.world.place - TAIL), more = true; more && !this.closed; ) {
      const events = await get(`/v1/journal?seq=${after}${of}&limit=${PAGE}`);
      for (const event of events) this.draw(event);
      more = events.length === PAGE;
      after = this.shown;
    }
  }

  take(event) {
    if (event.event === "gap" && event.reason === "forgotten") this.draw(event);
    if (!this.isRemote && event.pane !== this.session?.pane) return;
    if (event.event === "receipt") this.composer.take(event);
    if (this.early) this.early.push(event);
    else this.draw(event);
  }

  draw(event) {
    if (event.seq <= this.shown || this.closed) return;
    this.shown = event.seq;
    const line = this.line(event);
    if (line) this.log.add(line, this.group(event));
  }

  line(event) {
    if (this.isRemote) return this.heard(event);
    const told = (words) => element("p", { class: "line told" }, plain(words));
    switch (event.event) {
      case "text":
        return element("p", { class: `line ${event.origin}` }, plain(event.text));
      case "activity":
        return element("p", { class: "line activity" }, plain(event.text));
      case "needs_human":
        return told(`It waits for a person (${event.kind}): ${event.text}`);
      case "gap":
        return told(`Output may be missing here (${event.reason}).`);
      case "pane_closed":
        return told(`The program has ended (${event.reason}).`);
      case "receipt":
        if (event.state !== "failed") return null;
        return told(event.reason === "cancelled" ? "A message was cancelled." : `A message was not delivered (${event.reason}).`);
      default:
        return null;
    }
  }

  heard(event) {
    if (event.event !== "relay_delivered" || unnumbered(event.speaker) !== this.session.title) return null;
    return element("p", { class: "line injected" }, plain(event.text));
  }

  // Lines of one answer or of one message belong together; what an agent does in a turn is part of its answer.
  group(event) {
    if (event.event === "relay_delivered") {
      const to = event.listeners.map(unnumbered).join(", ");
      const head = () => element("h3", { class: "by injected" }, element("bdi", {}, plain(`${this.session.title}, delivered to ${to}`)), " ", clockTime(event.at));
      return { key: event.message_id, at: event.at, head };
    }
    if (event.event !== "text" && event.event !== "activity") return null;
    const answers = event.event === "activity" || event.origin === "program";
    const origin = answers ? "program" : event.origin;
    return {
      key: answers ? `program ${event.turn}` : `${origin} ${event.message_id ?? event.turn}`,
      at: event.at,
      head: () => {
        const who = answers ? (this.session?.title ?? this.id) : origin === "injected" ? senderOf(this.world.machines, event.message_id ?? "", event.pane) : BY[origin];
        return element("h3", { class: `by ${origin}` }, element("bdi", {}, plain(who)), " ", clockTime(event.at));
      },
    };
  }

  async hear() {
    write($("session-problem"), "");
    $("hear").disabled = true;
    try {
      await post("/v1/watch", { session: this.id, watched: true });
      await this.world.look();
      this.live.hurry();
    } catch (error) {
      write($("session-problem"), error.message);
    }
    $("hear").disabled = false;
  }

  refresh() {
    const session = this.session;
    write($("session-title"), session?.title ?? this.id);
    const state = session?.state ?? "ended";
    $("session-state").className = `state ${state}`;
    write($("session-state"), this.isRemote ? `${session.peer.name} is ${standsAs(session.peer)}` : (STATES[state] ?? state));
    const linked = session ? this.world.machines.linkedWith(session.pane) : [];
    const facts = session && [session.agent || session.program, session.session_name !== session.title && session.session_name, session.pane !== session.title && session.pane, linked.length && `linked with ${linked.join(", ")}`];
    write($("session-facts"), session ? facts.filter(Boolean).join(" · ") : "It is not there any more.");
    const advice = this.isRemote ? remoteAdvice(session) : session?.advice;
    write($("session-advice"), advice ?? "");
    $("session-advice").hidden = !advice;
    $("hear").hidden = state !== "unknown";
    $("tools").hidden = !session;
    $("menu-remote").hidden = !this.isRemote;
    $("menu-local").hidden = this.isRemote;
    if (this.isRemote) this.remoteCommands(session.title);
    else if (session) this.commands(session.pane);
    this.composer.refresh();
  }

  remoteCommands(name) {
    const { quoted, streamrelay } = this.world.words;
    write($("command-send"), `${streamrelay("send")} ${quoted(name)} 'hello' --wait`);
    write($("command-link"), `${streamrelay("link")} NAME ${quoted(name)}`);
  }

  commands(pane) {
    const { tmux, streamrelay } = this.world.words;
    write($("command-attach"), `${tmux} attach -t ${pane}`);
    write($("command-watch"), `${streamrelay("watch")} ${pane}`);
    write($("command-record"), `${streamrelay("record")} ${pane} talk.jsonl.gz`);
  }
}
