// One session of the council: what its members and the people say, as they say it, and a field to take part.
//
// An open session is one stream: how it stands comes first, then what happens. Where the stream broke off, it begins
// again with how the session stands, and everything is drawn anew. A session that is not open is only read.

import { get, post, Refused, Stream } from "./asking.js";
import { $, announce, element, grow, Log, plain, store, stored, submitsByKeyboard, write } from "./drawing.js";

const MAX_TITLE = 80;
const STATES = { idle: "idle", ai_generating: "busy", paused_for_user: "idle", ended: "done" };
const WORDS = { idle: "waits for a message", ai_generating: "answering", paused_for_user: "your turn", ended: "ended" };

export const namedCouncil = (council) => council.title.slice(0, MAX_TITLE) || `Council of ${council.members.join(", ")}`;

export function councilState(council) {
  if (!council.is_open) return { state: "done", words: "ended" };
  if (council.question) return { state: "needs_human", words: "asks you" };
  return { state: STATES[council.state] ?? "idle", words: council.speaker ? `${council.speaker} is answering` : (WORDS[council.state] ?? council.state) };
}

export class CouncilView {
  constructor(world, id) {
    this.world = world;
    this.id = id;
    this.mine = false;
    this.closed = false;
    this.answers = new Map(); // id of a message that is not final: its node
  }

  begin() {
    this.log = new Log($("council-said"), $("newest-council"));
    for (const part of ["council-problem", "council-title", "council-facts", "council-state", "council-status", "council-shown"]) write($(part), "");
    $("council-entry").hidden = true;
    $("council").hidden = false;
    const field = $("council-words");
    field.value = stored(`council/${this.id}`);
    field.oninput = () => {
      store(`council/${this.id}`, field.value);
      grow(field);
    };
    $("council-entry").onsubmit = (event) => {
      event.preventDefault();
      this.enter(field.value.trim());
    };
    $("council-yes").onclick = () => this.enter("/yes");
    $("council-no").onclick = () => this.enter("/no");
    $("council-title").focus({ preventScroll: true });
    this.look();
  }

  close() {
    this.closed = true;
    this.stream?.close();
    this.log?.close();
    $("council").hidden = true;
  }

  back() {
    this.stream?.hurry();
  }

  refresh() {
    const council = this.world.councils.find((one) => one.council === this.id);
    if (!council) return;
    write($("council-title"), namedCouncil(council));
    const { state, words } = councilState(council);
    $("council-state").className = `state ${state}`;
    write($("council-state"), words);
    write($("council-facts"), council.members.join(", "));
  }

  take() {}

  // The transcript says whether the session is open: then it is followed.
  async look() {
    try {
      const told = await get(`/v1/councils/${encodeURIComponent(this.id)}/transcript`);
      if (this.closed) return;
      if (told.council.is_open) this.follow();
      else this.read(told);
    } catch (error) {
      if (!this.closed) write($("council-problem"), error instanceof Refused ? error.message : "The daemon does not answer.");
    }
  }

  read({ council, entries }) {
    this.stream?.close();
    this.stream = null;
    this.clear();
    for (const entry of entries) this.add(entry);
    write($("council-title"), namedCouncil(council));
    $("council-state").className = "state done";
    write($("council-state"), "ended");
    write($("council-status"), `To go on with it: streamrelay council --resume ${this.id}`);
    $("council-entry").hidden = true;
    $("council-question").hidden = true;
  }

  follow() {
    this.stream = new Stream(`/v1/councils/${encodeURIComponent(this.id)}/events`, {
      take: (happening) => this.happens(happening),
      connected: () => write($("council-problem"), ""),
      lost: (why) => {
        if (why) this.look();
        else write($("council-problem"), "Connection lost; trying again");
      },
    });
  }

  clear() {
    this.log.close();
    this.log = new Log($("council-said"), $("newest-council"));
    this.answers.clear();
  }

  happens(happening) {
    switch (happening.happening) {
      case "joined":
        return this.joined(happening);
      case "messageshown":
        return this.add(happening.entry, happening.queued);
      case "messagestaken":
        return happening.ids.forEach((id) => this.taken(id));
      case "answerbegan": {
        const words = happening.hidden ? `${happening.member} is answering; the answers are shown together` : "";
        return this.add({ id: happening.id, author: happening.member, kind: happening.hidden ? "notice" : "member", text: words, growing: true });
      }
      case "answergrew":
        return this.answers.get(happening.id)?.lastElementChild.append(plain(happening.piece));
      case "answerended":
        return this.ended(happening);
      case "revealed":
        return happening.entries.forEach((entry) => this.add(entry));
      case "noticed":
        if (happening.urgent) announce(happening.text);
        return this.log.add(element("p", { class: `entry mark${happening.urgent ? " urgent" : ""}` }, plain(happening.text)));
      case "statuschanged":
        return this.status(happening);
      case "sessionended":
        return this.look();
    }
  }

  joined({ entries, queued, earlier, person, members, status }) {
    this.clear();
    if (earlier) this.log.add(element("p", { class: "entry mark" }, `${earlier} earlier messages are not shown`));
    for (const entry of entries) this.add(entry);
    for (const entry of queued) this.add(entry, true);
    $("council-entry").hidden = !this.world.maySend;
    $("council-words").placeholder = plain(`Message as ${person}, or /help`);
    write($("council-facts"), members.join(", "));
    grow($("council-words"));
    this.status(status);
    this.refresh();
  }

  add({ id, author, kind, text, round_kind: round, partial, growing }, queued = false) {
    const name = element("bdi", {}, plain(author));
    const about = [queued ? "queued" : "", round && round !== "open" ? round : "", partial ? "broken off" : ""].filter(Boolean).join(", ");
    const node =
      kind === "notice" && !text.includes("\n")
        ? element("article", { class: "entry mark" }, element("p", {}, plain(text)))
        : element("article", { class: `entry ${kind}${queued ? " queued" : ""}` }, element("h4", {}, name, " ", element("span", {}, about)), element("p", {}, plain(text)));
    if (queued || growing) this.answers.set(id, node);
    this.log.add(node);
  }

  taken(id) {
    const node = this.answers.get(id);
    this.answers.delete(id);
    if (!node) return;
    node.classList.remove("queued");
    write(node.querySelector("h4 span"), "");
    // It is said where it is taken in, not where it was typed.
    if (node.isConnected) node.parentElement.append(node);
  }

  ended({ id, entry }) {
    const node = this.answers.get(id);
    this.answers.delete(id);
    if (!node || node.classList.contains("mark")) return;
    if (!entry) return node.remove();
    write(node.lastElementChild, entry.text);
    if (entry.partial) write(node.querySelector("h4 span"), "broken off");
  }

  status({ state, phase, markers, speaker, queued, question, cost }) {
    const parts = [speaker ? `Generating... ${speaker} 🤔` : (WORDS[state] ?? state), `Phase: ${phase}`, `🎯 ${markers.drafter}`, `✅ ${markers.writer}`];
    if (queued) parts.push(`Queued Messages: ${queued}`);
    if (cost) parts.push(`$${cost.toFixed(2)}`);
    write($("council-status"), parts.join(" · "));
    $("council-state").className = `state ${question ? "needs_human" : (STATES[state] ?? "idle")}`;
    write($("council-state"), question ? "asks you" : (WORDS[state] ?? state));
    $("council-question").hidden = !question || !this.world.maySend;
    write($("council-question").firstElementChild, question);
  }

  async enter(text) {
    if (!text) return $("council-words").focus();
    write($("council-entry-problem"), "");
    $("council-send").disabled = true;
    try {
      const { shown } = await post(`/v1/councils/${encodeURIComponent(this.id)}/enter`, { text });
      if (this.closed) return;
      write($("council-shown"), shown);
      if ($("council-words").value.trim() === text) $("council-words").value = "";
      store(`council/${this.id}`, $("council-words").value);
    } catch (error) {
      if (this.closed) return;
      const unknown = "The connection broke: look whether your message is there before you send it again.";
      write($("council-entry-problem"), error instanceof Refused ? error.message : unknown);
    }
    $("council-send").disabled = false;
    grow($("council-words"));
    $("council-words").focus();
  }
}

submitsByKeyboard($("council-words"), $("council-send"));
