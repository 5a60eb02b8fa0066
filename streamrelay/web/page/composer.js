// Messages from this page to one session, and how far each has come. A message keeps its id while it is tried again, so
// that a connection which broke delivers it once at most.

import { cancel, get, post, Refused } from "./asking.js";
import { $, element, grow, plain, store, stored, submitsByKeyboard, write } from "./drawing.js";

const HAS_KEYBOARD = matchMedia("(hover: hover)").matches;
const MAX_SHOWN = 3; // messages that are through
const WAITING = new Set(["queued"]);
const OVER = new Set(["answered", "failed", "unconfirmed"]);
const STATES = {
  sending: "Sending",
  queued: "Queued",
  pasted: "Pasted",
  painted: "In the input box",
  submitted: "Submitted",
  turn_started: "Being answered",
  answered: "Answered",
  failed: "Not delivered",
  unconfirmed: "Not confirmed",
};
// Why a message waits, and what lets it go out.
const HELD = {
  needs_human: "A dialog is open there: the message goes out once a person has answered it.",
  draft: "An unfinished draft is in the input box: the message goes out once the draft is sent or cleared.",
  at_work: "The message goes out when the current answer is complete.",
  not_ready: "The message goes out when the program is ready.",
};
const FAILED = { cancelled: "cancelled", pane_gone: "the pane is gone", program_left: "the program has ended", timeout: "time ran out" };

export class Composer {
  constructor(id, session, maySend) {
    this.id = id;
    this.session = session;
    this.maySend = maySend;
    this.sent = new Map(); // id of a message: {text, state, reason}
    this.unsure = null; // {id, text} of a message whose answer was lost
    this.closed = false;
    $("outgoing").replaceChildren();
    write($("composer-problem"), "");
    $("shell").hidden = true;
    $("allow-shell").checked = false;
    const field = $("message");
    field.value = stored(`message/${id}`);
    field.oninput = () => {
      store(`message/${id}`, field.value);
      grow(field);
    };
    $("composer").onsubmit = (event) => {
      event.preventDefault();
      this.send();
    };
    this.begun = false;
    this.waiting();
  }

  close() {
    this.closed = true;
  }

  refresh() {
    const session = this.session();
    $("composer").hidden = !this.maySend || !session || session.state === "ended";
    const words = `Message to ${session?.title ?? this.id}`;
    write($("message-label"), words);
    $("message").placeholder = plain(words) + (HAS_KEYBOARD ? " (Ctrl+Enter sends)" : "");
    if (!this.begun && !$("composer").hidden) grow($("message"));
    this.begun = true;
    this.draw();
  }

  // Messages of any sender that waited when the page was opened.
  async waiting() {
    try {
      for (const one of await get(`/v1/messages?session=${encodeURIComponent(this.id)}`)) {
        if (!this.sent.has(one.message_id)) this.sent.set(one.message_id, one);
      }
    } catch (error) {
      if (!(error instanceof Refused)) return;
    }
    if (!this.closed) this.draw();
  }

  async send() {
    const text = $("message").value.trim();
    if (!text) return $("message").focus();
    const again = this.unsure?.text === text ? this.unsure.id : "";
    const id = again || `page-${[...crypto.getRandomValues(new Uint8Array(8))].map((one) => one.toString(16).padStart(2, "0")).join("")}`;
    write($("composer-problem"), "");
    $("send").disabled = true;
    this.sent.set(id, { text, state: "sending", reason: "" });
    this.draw();
    try {
      const body = { to: this.id, text, message_id: id, allow_shell: $("allow-shell").checked };
      const { delivery, warning } = await post("/v1/messages", body);
      if (!this.closed) write($("composer-problem"), warning);
      this.unsure = null;
      const one = this.sent.get(id);
      // A receipt may have overtaken the answer.
      if (one.state === "sending") Object.assign(one, { state: delivery.state, reason: delivery.reason });
      if (!this.closed && $("message").value.trim() === text) {
        $("message").value = "";
        grow($("message"));
      }
      store(`message/${this.id}`, "");
    } catch (error) {
      this.sent.delete(id);
      this.refused(error, id, text);
    }
    if (this.closed) return;
    $("send").disabled = false;
    $("message").focus();
    this.draw();
  }

  refused(error, id, text) {
    if (!(error instanceof Refused)) {
      this.unsure = { id, text };
      write($("composer-problem"), "The connection broke. Send it again: it is delivered once, whatever became of the first try.");
      return;
    }
    if (error.code === "shell_refused") {
      $("shell").hidden = false;
      return;
    }
    write($("composer-problem"), error.message);
  }

  take({ message_id: id, state, reason }) {
    const one = this.sent.get(id);
    if (!one) return;
    Object.assign(one, { state, reason });
    this.draw();
  }

  async cancel(id) {
    write($("composer-problem"), "");
    try {
      await cancel(`/v1/messages/${encodeURIComponent(id)}`);
    } catch (error) {
      if (!this.closed) write($("composer-problem"), error.message);
    }
  }

  draw() {
    if (this.closed) return;
    const through = [...this.sent].filter(([, one]) => OVER.has(one.state));
    for (const [id] of through.slice(0, -MAX_SHOWN)) this.sent.delete(id);
    const list = $("outgoing");
    const nodes = new Map([...list.children].map((node) => [node.dataset.key, node]));
    for (const [id, one] of this.sent) {
      const node = nodes.get(id) ?? list.appendChild(this.made(id));
      nodes.delete(id);
      const [state, text, why, button] = node.children;
      state.className = `receipt ${one.state}`;
      write(state, one.state === "queued" && this.why(one) ? "Held" : (STATES[one.state] ?? one.state));
      write(text, one.text.split("\n", 1)[0]);
      write(why, this.why(one));
      // Only the other machine can cancel what went there.
      button.hidden = !WAITING.has(one.state) || Boolean(this.session()?.peer);
    }
    for (const node of nodes.values()) node.remove();
  }

  made(id) {
    const button = element("button", { type: "button", class: "plain" }, "Cancel");
    button.onclick = () => this.cancel(id);
    const node = element("li", {}, element("span"), element("bdi", { class: "excerpt" }), element("span", { class: "why" }), button);
    node.dataset.key = id;
    return node;
  }

  why({ state, reason }) {
    const peer = this.session()?.peer;
    if (state === "queued" && peer && !reason) return peer.why;
    // A message behind another one waits without a reason of its own.
    if (state === "queued") return HELD[reason || (this.session()?.state === "needs_human" && "needs_human")] ?? reason;
    return state === "answered" ? "" : (FAILED[reason] ?? reason);
  }
}

submitsByKeyboard($("message"), $("send"));
