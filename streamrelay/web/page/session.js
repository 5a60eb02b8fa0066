// One session: what it said, from the journal and as it says it; what is on its screen and not final; messages to it.

import { Composer } from "./composer.js";
import { get, post, Stream } from "./asking.js";
import { $, clockTime, element, Log, plain, write } from "./drawing.js";

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

export const senderOf = (messageId) => SENDERS[String(messageId ?? "").split("-", 1)[0]] ?? "Message";

export class SessionView {
  constructor(world, id) {
    this.world = world;
    this.id = id;
    this.shown = 0; // the number of the newest event that was drawn
    this.early = []; // what happens while the past is fetched
    this.closed = false;
  }

  get session() {
    return this.world.sessions.find((one) => one.session === this.id);
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
    this.live = new Stream(`/v1/live?session=${encodeURIComponent(this.id)}`, {
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
    const of = encodeURIComponent(this.id);
    for (let after = Math.max(0, this.world.place - TAIL), more = true; more && !this.closed; ) {
      const events = await get(`/v1/journal?seq=${after}&session=${of}&limit=${PAGE}`);
      for (const event of events) this.draw(event);
      more = events.length === PAGE;
      after = this.shown;
    }
  }

  take(event) {
    if (event.event === "gap" && event.reason === "forgotten") this.draw(event);
    if (event.pane !== this.session?.pane) return;
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

  // Lines of one answer or of one message belong together; what an agent does in a turn is part of its answer.
  group(event) {
    if (event.event !== "text" && event.event !== "activity") return null;
    const answers = event.event === "activity" || event.origin === "program";
    const origin = answers ? "program" : event.origin;
    return {
      key: answers ? `program ${event.turn}` : `${origin} ${event.message_id ?? event.turn}`,
      at: event.at,
      head: () => {
        const who = answers ? (this.session?.title ?? this.id) : origin === "injected" ? senderOf(event.message_id) : BY[origin];
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
    write($("session-state"), STATES[state] ?? state);
    const facts = session && [session.agent || session.program, session.session_name !== session.title && session.session_name, session.pane];
    write($("session-facts"), session ? facts.filter(Boolean).join(" · ") : "It is not there any more.");
    write($("session-advice"), session?.advice ?? "");
    $("session-advice").hidden = !session?.advice;
    $("hear").hidden = state !== "unknown";
    $("tools").hidden = !session;
    if (session) this.commands(session.pane);
    this.composer.refresh();
  }

  commands(pane) {
    const { tmux, streamrelay } = this.world.words;
    write($("command-attach"), `${tmux} attach -t ${pane}`);
    write($("command-watch"), `${streamrelay("watch")} ${pane}`);
    write($("command-record"), `${streamrelay("record")} ${pane} talk.jsonl.gz`);
  }
}
