// One session: what it said, from the journal and as it says it, and what is on its screen and not final.

import { get, post, Stream } from "./asking.js";
import { $, element, Log, plain, write } from "./drawing.js";

const TAIL = 4000; // events back from the newest in which the last words are looked for
const PAGE = 1000;
const BY = { injected: "sent to it", typed: "typed", unknown: "typed or said", activity: "does" };
export const STATES = { idle: "idle", busy: "busy", needs_human: "needs human", ended: "ended", unknown: "unknown" };

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
    $("hear").onclick = () => this.hear();
    this.refresh();
    $("session-title").focus();
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
    if (this.early) this.early.push(event);
    else this.draw(event);
  }

  draw(event) {
    if (event.seq <= this.shown || this.closed) return;
    this.shown = event.seq;
    const line = this.line(event);
    if (line) this.log.add(line);
  }

  line(event) {
    const told = (words) => element("p", { class: "line told" }, plain(words));
    switch (event.event) {
      case "text":
        return said(event.origin, event.text);
      case "activity":
        return said("activity", event.text);
      case "needs_human":
        return told(`It needs a person (${event.kind}): ${event.text}`);
      case "turn_ended":
        return element("p", { class: "line end" });
      case "gap":
        return told(`Something may be missing here (${event.reason}).`);
      case "pane_closed":
        return told(`It has ended (${event.reason}).`);
      case "receipt":
        return event.state === "failed" ? told(`A message was not delivered (${event.reason}).`) : null;
      default:
        return null;
    }
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
    write($("session-facts"), session ? `${session.agent || session.program} · ${session.session_name} · ${session.pane}` : "It is not there any more.");
    write($("session-advice"), session?.advice ?? "");
    $("session-advice").hidden = !session?.advice;
    $("hear").hidden = state !== "unknown";
  }
}

function said(by, text) {
  const line = element("p", { class: `line ${BY[by] ? by : "program"}` });
  if (BY[by]) line.append(element("span", { class: "by" }, BY[by]));
  line.append(plain(text));
  return line;
}
