// One gathering: the circle with its piece and beats, who said what, and the seat of whoever looks at this.
//
// What is shown is fetched anew after whatever happens, so it is what the daemon keeps, however the connection was. What
// a person says is sent once: where the answer was lost he is told, and decides.

import { get, now, post, Refused } from "./asking.js";
import { $, announce, element, Log, plain, sleep, store, stored, write } from "./drawing.js";

export const named = (circle) => circle.opening_question || `A ${circle.rhythm} gathering`;
export const holderOf = (circle) => circle.participants.find((one) => one.number === circle.speaker);
const labelled = (one) => `${one.name} (${one.number})`;

export function phaseOf(circle) {
  return circle.phase === "close" ? "close" : `${circle.phase} ${circle.round}/${circle.rounds}`;
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
    for (const part of ["circle-problem", "seat-problem", "circle-title", "circle-facts"]) write($(part), "");
    $("ring").replaceChildren();
    $("standing").hidden = $("seat").hidden = true;
    $("circle").hidden = false;
    $("words").value = stored(`draft/${this.id}`);
    $("words").oninput = () => store(`draft/${this.id}`, $("words").value);
    $("words").onkeydown = (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !$("speak").disabled) $("seat").requestSubmit();
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
    $("circle-title").focus();
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

  refresh() {}

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
        return mark(phase === "close" ? "Close" : `${phase[0].toUpperCase()}${phase.slice(1)}, round ${round}`);
      case "passed":
        return mark(`${name} passed the piece on${text ? ` (${text})` : ""}.`);
      case "left":
        return mark(`${name} is gone${text ? ` (${text})` : ""}.`);
      case "said":
      case "aside":
      case "harvest": {
        const when = new Date(at * 1000).toLocaleTimeString([], { timeStyle: "short" });
        const about = { aside: "without the piece", harvest: "the harvest" }[kind] ?? `${phase} ${round}`;
        const by = element("bdi", {}, plain(labelled({ name, number })));
        const head = element("h4", {}, by, element("span", {}, `${about} · ${when}`));
        return element("article", { class: `entry ${kind}` }, head, element("p", {}, plain(text)));
      }
      default:
        return mark(text ? `${kind}: ${text}` : kind);
    }
  }

  // The seats of people: whoever looks at this takes one of them.
  get seats() {
    return this.circle.participants.filter((one) => one.is_human && !one.gone);
  }

  get seat() {
    const seats = this.seats;
    const chosen = stored(`seat/${this.id}`);
    return seats.find((one) => String(one.number) === chosen) ?? (seats.length === 1 ? seats[0] : undefined);
  }

  draw() {
    const circle = this.circle;
    const holder = holderOf(circle);
    $("standing").hidden = false;
    write($("circle-title"), named(circle));
    const structure = `${circle.inhale_rounds}-${circle.hold_rounds}-${circle.exhale_rounds}`;
    const ended = circle.state === "closed" && circle.reason ? `closed (${circle.reason})` : circle.state;
    write($("circle-facts"), `${circle.rhythm}, ${structure} · ${ended}`);
    this.ring(circle.participants.filter((one) => one.role === "speaker"), holder);
    write($("phase"), phaseOf(circle));
    const resting = { paused: "The piece rests.", harvesting: "The harvest is made.", closed: "It is over." }[circle.state];
    write($("holder"), resting ?? (holder ? (holder === this.seat ? "You hold the piece" : `${holder.name} holds the piece`) : "Nobody holds the piece yet"));
    const harvester = circle.participants.find((one) => one.role === "harvester");
    write($("harvester"), harvester ? `${labelled(harvester)} listens, and harvests at the close.` : "");
    this.beats(circle, holder);
    this.sit(circle, holder);
    this.tick();
  }

  ring(speakers, holder) {
    const ring = $("ring");
    while (ring.childElementCount > speakers.length) ring.lastElementChild.remove();
    speakers.forEach((one, at) => {
      const node = ring.children[at] ?? ring.appendChild(element("li", {}, element("bdi")));
      node.style.setProperty("--angle", `${(360 / speakers.length) * at}deg`);
      node.classList.toggle("gone", Boolean(one.gone));
      write(node.firstElementChild, labelled(one));
      if (one === holder) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    });
  }

  beats(circle, holder) {
    const count = circle.beats_per_turn;
    const done = Math.min(circle.beat, count);
    write($("beats"), holder ? "●".repeat(done) + "○".repeat(count - done) : "");
    if (holder) $("beats").setAttribute("aria-label", done === count ? "Last words" : `Beat ${done} of ${count}`);
    $("beats").setAttribute("role", "img");
    $("beats").hidden = !holder;
  }

  tick() {
    const due = this.circle?.next_beat_at;
    const runs = Boolean(due) && this.circle.state === "running";
    $("until").hidden = !runs;
    if (!runs) return write($("next"), "");
    const left = Math.max(0, due - now());
    const total = this.circle.beat_interval_seconds;
    $("until").max = total;
    $("until").value = Math.max(0, total - left);
    const last = this.circle.beat >= this.circle.beats_per_turn;
    write($("next"), `${last ? "ends" : "beat"} in ${Math.ceil(left)} s`);
  }

  sit(circle, holder) {
    const seats = this.seats;
    const seat = this.seat;
    const harvests = seat?.role === "harvester";
    $("seat").hidden = seats.length === 0 || circle.state === "closed";
    $("choosing").hidden = seats.length < 2;
    const choices = [["", "Nobody: I only read"], ...seats.map((one) => [String(one.number), labelled(one)])];
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
  }

  turn(seat, holder, mine) {
    if (seat?.role === "harvester") {
      return mine ? "The harvest is yours: what you say now is kept." : "You listen. At the close the harvest is yours.";
    }
    if (mine) return seat.contributions ? "The piece is with you. You can say more, or pass." : "The piece is with you.";
    return holder ? `${holder.name} holds the piece. You can write already.` : "The piece is with nobody.";
  }

  async speak() {
    const text = $("words").value.trim();
    if (!text) return $("words").focus();
    // What is written while it goes out is the next that is said.
    if (await this.act("say", { number: this.seat.number, text })) {
      $("words").value = $("words").value.trim() === text ? "" : $("words").value;
      store(`draft/${this.id}`, $("words").value);
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
