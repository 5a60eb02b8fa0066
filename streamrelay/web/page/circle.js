// One gathering: the circle with its piece and beats, who said what, and the seat of the person who looks at it.
//
// What is shown is fetched anew after whatever happens, so it is what the daemon keeps, however the connection was. What
// a person says is sent once: where the answer was lost he is told, and decides.

import { get, now, post, Refused } from "./asking.js";
import { $, announce, clockTime, element, grow, icon, Log, plain, sleep, store, stored, submitsByKeyboard, write } from "./drawing.js";

export const namedCircle = (circle) => circle.opening_question || `A ${circle.rhythm} gathering`;
export const holderOf = (circle) => circle.participants.find((one) => one.number === circle.speaker);
const labelled = (one) => `${one.name} (${one.number})`;
const PHASES = ["inhale", "hold", "exhale", "close"];
const MANY = 8; // participants from which their places get smaller
const capital = (words) => words[0].toUpperCase() + words.slice(1);

const span = (seconds) => (seconds < 100 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);

export function phaseOf(circle) {
  return circle.phase === "close" ? "Close" : `${capital(circle.phase)} ${circle.round}/${circle.rounds}`;
}

const OVER = { complete: "finished", stopped: "closed early" };

// How a gathering stands, in words and as the kind of mark that sessions have.
export function stateOf(circle) {
  switch (circle.state) {
    case "running":
      return { state: "busy", words: "running" };
    case "closed":
      return { state: "done", words: OVER[circle.reason] ?? `ended (${circle.reason})` };
    default:
      return { state: "idle", words: circle.state };
  }
}

// How a holder's tenure ended, in the words of the Markdown transcript (gathering/transcript.py); a test compares both.
const PASSED = {
  phrase: "{who} passed the piece on",
  tool: "{who} passed the piece on",
  time: "Time is up for {who}",
  last_words: "{who} said their last words",
  left: "{who} left with the piece",
  closed: "{who} gave the piece back: the gathering closes",
};

function place() {
  return element("li", {}, element("span", { class: "face", "aria-hidden": "true" }, icon("person")), element("bdi"), element("span", { class: "kind" }));
}

export class CircleView {
  constructor(world, id) {
    this.world = world;
    this.id = id;
    this.drawn = 0; // entries of the transcript
    this.mine = false;
    this.closed = false;
    this.working = null;
    this.again = false;
  }

  begin() {
    this.log = new Log($("transcript"), $("newest-said"));
    for (const part of ["circle-problem", "seat-problem", "circle-title", "circle-facts", "circle-state"]) write($(part), "");
    $("ring").replaceChildren();
    $("phases").replaceChildren();
    $("standing").hidden = $("seat").hidden = true;
    $("circle").hidden = false;
    $("words").value = stored(`draft/${this.id}`);
    $("words").oninput = () => {
      store(`draft/${this.id}`, $("words").value);
      grow($("words"));
    };
    $("who").onchange = () => {
      store(`seat/${this.id}`, $("who").value);
      this.draw();
    };
    $("seat").onsubmit = (event) => {
      event.preventDefault();
      this.speak();
    };
    $("pass").onclick = () => this.act("pass", { number: this.seat.number });
    this.ticking = setInterval(() => this.tick(), 500);
    $("circle-title").focus({ preventScroll: true });
    this.look();
  }

  close() {
    this.closed = true;
    clearInterval(this.ticking);
    this.log?.close();
    $("circle").hidden = true;
  }

  back() {
    this.look();
  }

  refresh() {
    if (this.circle) this.draw();
  }

  take(event) {
    if (event.gathering === this.id || event.relay === this.id || event.event === "gap") this.look();
  }

  // How it stands and what was said, fetched anew after whatever happens; while it is fetched once more is enough.
  async look() {
    this.again = true;
    this.working ??= (async () => {
      while (this.again && !this.closed) {
        this.again = false;
        try {
          const told = await get(`/v1/gatherings/${encodeURIComponent(this.id)}/transcript`);
          if (this.closed) break;
          this.circle = told.gathering;
          for (const entry of told.entries.slice(this.drawn)) this.log.add(this.entry(entry));
          this.drawn = Math.max(this.drawn, told.entries.length);
          write($("circle-problem"), "");
          this.draw();
        } catch (error) {
          if (error instanceof Refused && !this.closed) write($("circle-problem"), error.message);
        }
        await sleep(100);
      }
      this.working = null;
    })();
    return this.working;
  }

  entry({ kind, phase, round, number, name, text, at }) {
    const mark = (words) => element("p", { class: `entry mark ${kind}` }, plain(words));
    switch (kind) {
      case "phase":
        return mark(phase === "close" ? "Close" : `${capital(phase)}, round ${round}`);
      case "passed":
        if (text === "time" && number === this.seat?.number) return mark("Your time is up.");
        return mark(`${(PASSED[text] ?? `{who} passed the piece on (${text})`).replace("{who}", () => name)}.`);
      case "left":
        return mark(`${name} has left${text ? ` (${text})` : ""}.`);
      case "closed":
        return mark(`The gathering is ${OVER[text] ?? `over (${text})`}.`);
      case "said":
      case "aside":
      case "harvest": {
        const about = { aside: "without the piece", harvest: "harvest" }[kind] ?? (phase === "close" ? "close" : `${phase} ${round}`);
        const by = element("bdi", {}, plain(labelled({ name, number })));
        const head = element("h4", {}, by, " ", element("span", {}, about), " ", clockTime(at));
        return element("article", { class: `entry ${kind}` }, head, element("p", {}, plain(text)));
      }
      default:
        return mark(text ? `${kind}: ${text}` : kind);
    }
  }

  // The seats of people: the person at this page takes one of them.
  get seats() {
    return this.circle.participants.filter((one) => one.is_human && !one.gone && !one.node);
  }

  get seat() {
    const seats = this.seats;
    const chosen = stored(`seat/${this.id}`);
    return seats.find((one) => String(one.number) === chosen) ?? (seats.length === 1 ? seats[0] : undefined);
  }

  draw() {
    const circle = this.circle;
    const holder = holderOf(circle);
    const { state, words } = stateOf(circle);
    $("standing").hidden = false;
    $("standing").classList.toggle("over", circle.state === "closed");
    write($("circle-title"), namedCircle(circle));
    $("circle-state").className = `state ${state}`;
    write($("circle-state"), words);
    const said = circle.participants.reduce((sum, one) => sum + one.contributions, 0);
    const home = this.world.machines.nodeOf(circle.gathering);
    const facts = [circle.rhythm, `${said} ${said === 1 ? "contribution" : "contributions"}`, home && `kept by ${home}`];
    write($("circle-facts"), facts.filter(Boolean).join(" · "));
    this.phases(circle);
    this.ring(circle.participants.filter((one) => one.role === "speaker"), holder);
    this.hub(circle, holder);
    const harvester = circle.participants.find((one) => one.role === "harvester");
    $("harvester").hidden = !harvester;
    const at = harvester && this.hostOf(harvester) ? ` on ${this.hostOf(harvester)}` : "";
    if (harvester) write($("harvester").lastElementChild, `${labelled(harvester)}${at} ${circle.harvest ? "wrote the harvest." : "listens, and writes the harvest at the close."}`);
    this.sit(circle, holder);
    this.tick();
  }

  // Which rounds of which phases are over, and which one it is.
  phases(circle) {
    const list = $("phases");
    const over = circle.state === "closed";
    const present = PHASES.indexOf(circle.phase);
    if (!list.childElementCount) list.append(...PHASES.map((phase) => element("li", {}, capital(phase), element("span", { "aria-hidden": "true" }))));
    PHASES.forEach((phase, at) => {
      const node = list.children[at];
      const rounds = phase === "close" ? 1 : circle[`${phase}_rounds`];
      const done = over || at < present ? rounds : at === present ? circle.round - (phase === "close" ? 1 : 0) : 0;
      const full = Math.max(0, Math.min(done, rounds));
      node.hidden = rounds === 0;
      node.classList.toggle("done", over || at < present);
      if (at === present && !over) node.setAttribute("aria-current", "step");
      else node.removeAttribute("aria-current");
      write(node.lastElementChild, "●".repeat(full) + "○".repeat(rounds - full));
    });
  }

  ring(speakers, holder) {
    const ring = $("ring");
    ring.classList.toggle("many", speakers.length >= MANY);
    while (ring.childElementCount > speakers.length) ring.lastElementChild.remove();
    speakers.forEach((one, at) => {
      const node = ring.children[at] ?? ring.appendChild(place());
      const angle = (2 * Math.PI * at) / speakers.length;
      node.style.setProperty("--x", Math.sin(angle).toFixed(4));
      node.style.setProperty("--y", (-Math.cos(angle)).toFixed(4));
      node.classList.toggle("above", Math.cos(angle) > 0.3);
      node.classList.toggle("gone", Boolean(one.gone));
      node.classList.toggle("person", one.is_human);
      const [face, name, kind] = node.children;
      face.dataset.initials = plain([...one.name.trim()].slice(0, 2).join(""));
      write(name, labelled(one));
      write(kind, one.gone ? "has left" : one === this.seat ? "you" : (one.is_human ? "person" : one.agent) + (this.hostOf(one) && `@${this.hostOf(one)}`));
      if (one === holder) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    });
    const lowest = Math.max(...speakers.map((_, at) => -Math.cos((2 * Math.PI * at) / speakers.length)), 0);
    $("stage").style.setProperty("--lowest", lowest.toFixed(4));
    this.carry(speakers.indexOf(holder) / speakers.length);
  }

  // The piece goes round the way the circle speaks, never back.
  carry(turn) {
    $("piece").classList.toggle("held", turn >= 0);
    if (turn < 0) return;
    const before = this.turned ?? 0;
    this.turned = before + ((turn - before) % 1 + 1) % 1;
    $("piece").style.setProperty("--turn", `${this.turned * 360}deg`);
  }

  hub(circle, holder) {
    const over = circle.state === "closed";
    write($("phase"), capital(over ? stateOf(circle).words : circle.phase));
    const minutes = Math.max(1, Math.round(((circle.closed_at ?? 0) - circle.started_at) / 60));
    write($("round"), over ? `after ${minutes} min` : circle.phase === "close" ? "" : `round ${circle.round} of ${circle.rounds}`);
    const resting = { paused: `The piece rests: the gathering ${this.awaited(circle)}.`, harvesting: "The harvest is being written.", closed: "" }[circle.state];
    write($("holder"), resting ?? (holder ? (holder === this.seat ? "You hold the piece." : `${holder.name} holds the piece.`) : "No one holds the piece yet."));
    const count = circle.beats_per_turn;
    const done = Math.min(circle.beat, count);
    write($("beats"), holder ? "●".repeat(done) + "○".repeat(count - done) : "");
    if (holder) $("beats").setAttribute("aria-label", done === count ? "Last words" : `Beat ${done} of ${count}`);
    $("beats").hidden = !holder;
  }

  // The other machine on which a participant is; empty for this one.
  hostOf(one) {
    return one.node || this.world.machines.nodeOf(one.session);
  }

  // Why a paused gathering is paused: it waits for machines that are away, or a person has paused it.
  awaited(circle) {
    const nodes = [this.world.machines.nodeOf(circle.gathering), ...circle.participants.filter((one) => !one.gone).map((one) => this.hostOf(one))];
    const away = this.world.machines.peers.filter((peer) => nodes.includes(peer.name) && peer.state !== "present");
    return away.length ? `waits until ${away.map((peer) => peer.name).join(", ")} is back` : "is paused";
  }

  tick() {
    const due = this.circle?.next_beat_at;
    const runs = Boolean(due) && this.circle.state === "running";
    $("until").hidden = !runs;
    $("elapsed").classList.toggle("runs", runs);
    $("next").hidden = !runs;
    if (!runs) return;
    const left = Math.max(0, due - now());
    const total = this.circle.beat_interval_seconds;
    $("until").max = total;
    $("until").value = Math.max(0, total - left);
    $("elapsed").style.setProperty("--left", String((100 * Math.min(left, total)) / total));
    const last = this.circle.beat >= this.circle.beats_per_turn;
    write($("next").firstElementChild, last ? "ends in" : "beat in");
    write($("next").lastElementChild, span(Math.ceil(left)));
  }

  sit(circle, holder) {
    const seats = this.seats;
    const seat = this.seat;
    const harvests = seat?.role === "harvester";
    $("seat").hidden = seats.length === 0 || circle.state === "closed";
    $("choosing").hidden = seats.length < 2;
    const choices = [["", "None: I only read"], ...seats.map((one) => [String(one.number), labelled(one)])];
    if ($("who").options.length !== choices.length) {
      $("who").replaceChildren(...choices.map(([value, words]) => element("option", { value }, plain(words))));
    }
    $("who").value = seat ? String(seat.number) : "";
    $("sitting").hidden = !seat;
    write($("seat-title"), seat ? `Your seat: ${labelled(seat)}` : "A seat");
    const mine = Boolean(seat) && (harvests ? circle.state === "harvesting" : seat === holder && circle.state === "running");
    if (mine && !this.mine) announce(harvests ? "The harvest is yours." : "The piece is with you.");
    this.mine = mine;
    this.world.title();
    $("seat").classList.toggle("mine", mine);
    $("speak").disabled = $("pass").disabled = !mine;
    $("pass").hidden = harvests;
    write($("turn"), this.turn(seat, holder, mine));
    $("asked").hidden = !(mine && seat.asked);
    write($("asked"), mine ? seat.asked : "");
    if (!this.sat && seat) grow($("words"));
    this.sat = Boolean(seat);
  }

  turn(seat, holder, mine) {
    if (seat?.role === "harvester") {
      return mine ? "The harvest is yours: what you say now is kept." : "You listen. At the close the harvest is yours.";
    }
    if (mine) return seat.contributions ? "The piece is with you. You can say more, or pass." : "The piece is with you.";
    return holder ? `${holder.name} holds the piece. You can write already.` : "No one holds the piece.";
  }

  async speak() {
    const text = $("words").value.trim();
    if (!text) return $("words").focus();
    // What is written while it goes out is the next that is said.
    if (await this.act("say", { number: this.seat.number, text })) {
      $("words").value = $("words").value.trim() === text ? "" : $("words").value;
      store(`draft/${this.id}`, $("words").value);
      grow($("words"));
      $("words").focus();
    }
  }

  async act(what, body) {
    write($("seat-problem"), "");
    $("speak").disabled = $("pass").disabled = true;
    try {
      await post(`/v1/gatherings/${encodeURIComponent(this.id)}/${what}`, body);
      return true;
    } catch (error) {
      const unknown = "The connection broke: look at the transcript before you try it again.";
      write($("seat-problem"), error instanceof Refused ? error.message : unknown);
      return false;
    } finally {
      await this.look();
    }
  }
}

submitsByKeyboard($("words"), $("speak"));
