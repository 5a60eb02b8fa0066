// The page: sessions as they stand and what they say as they say it; gatherings, and a seat in them.
//
// * Everything that programs say is hostile. It goes into text nodes and nowhere else, and characters that cannot be
//   seen or that turn text around are spelled out.
// * All that is shown comes from two sources: snapshots, and the daemon's events behind them. An event has a number;
//   whoever knows the last one can go away and come back without having missed anything.
// * A flood is drawn a few times a second, and no more lines are kept than a person scrolls through.
"use strict";

const KEPT_LINES = 2000;
const TAIL = 4000; // events back from the newest in which the last words of a session are looked for
const PAGE = 1000;
const SILENCE = 40_000; // ms; the daemon is never silent for longer than 15 s
const LOOK_AGAIN = 10_000;
const MOST_PATIENCE = 5_000; // between two attempts to connect
const STATES = { idle: "waiting", busy: "working", needs_human: "needs a person", ended: "ended", unknown: "not heard" };
const BY = { injected: "sent to it", typed: "typed", unknown: "typed or said", activity: "does" };

const $ = (id) => document.getElementById(id);
const stored = (name) => localStorage.getItem(name) ?? "";
const store = (name, value) => (value ? localStorage.setItem(name, value) : localStorage.removeItem(name));
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

let token = "";
let place = null; // the number of the newest event that is shown
let sessions = [];
let circles = [];
let skew = 0; // ms by which the daemon's clock is ahead of ours
let view = null; // what is open: {kind, id, take(event), refresh(), close()}
let following = null;

// Text

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function plain(text) {
  return String(text ?? "").replace(UNSEEN, (one) => `<${one.codePointAt(0).toString(16).padStart(4, "0").toUpperCase()}>`);
}

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function write(node, text) {
  const words = plain(text);
  // Written again, a live region would be read out again.
  if (node.textContent !== words) node.textContent = words;
}

function announce(text) {
  write($("announcement"), text);
}

// Asking

class Refused extends Error {}

async function request(method, path, { body, headers = {}, signal } = {}) {
  const response = await fetch(path, {
    method,
    signal,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    credentials: "omit",
    redirect: "error",
    cache: "no-store",
  });
  const theirs = Date.parse(response.headers.get("date")) - Date.now();
  skew = Math.abs(theirs) < 2000 ? 0 : theirs; // it tells whole seconds
  if (response.status === 401) leave("The token is wrong, or not the daemon's any more.");
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new Refused([problem.message ?? `The daemon answered with ${response.status}.`, problem.hint].filter(Boolean).join(" — "));
  }
  return response;
}

const get = async (path) => (await request("GET", path)).json();
const post = async (path, body) => {
  const response = await request("POST", path, { body });
  return response.status === 204 ? null : response.json();
};

// One stream of server-sent events, taken up again where it broke off for as long as it is wanted.
class Stream {
  constructor(path, { take, connected = () => {}, lost = () => {}, from = null }) {
    Object.assign(this, { path, take, connected, lost, last: from });
    this.ended = false;
    this.wake = () => {};
    this.run();
  }

  close() {
    this.ended = true;
    this.abort?.abort();
    this.wake();
  }

  // Somebody is there again who may have been away: what is broken is mended now, not after a while.
  hurry() {
    this.wake();
  }

  async run() {
    for (let wait = 250; !this.ended; wait = Math.min(wait * 2, MOST_PATIENCE)) {
      try {
        await this.read(() => (wait = 250));
      } catch (error) {
        if (error instanceof Refused && !this.ended) this.lost(error.message);
      }
      if (this.ended) return;
      this.lost();
      await Promise.race([sleep(wait * (0.75 + Math.random() / 2)), new Promise((done) => (this.wake = done))]);
    }
  }

  async read(opened) {
    this.abort = new AbortController();
    let silence = 0;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => this.abort.abort(), SILENCE);
    };
    heard();
    try {
      const headers = this.last === null ? {} : { "last-event-id": String(this.last) };
      const response = await request("GET", this.path, { headers, signal: this.abort.signal });
      opened();
      this.connected();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ; ) {
        const { value, done } = await reader.read();
        if (done) return;
        heard();
        const frames = (rest + value).split("\n\n");
        rest = frames.pop();
        for (const frame of frames) this.frame(frame);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  frame(frame) {
    let data = "";
    for (const line of frame.split("\n")) {
      if (line.startsWith("id: ")) this.last = Number(line.slice(4));
      else if (line.startsWith("data: ")) data += line.slice(6);
    }
    if (data && !this.ended) this.take(JSON.parse(data));
  }
}

// Coming in and leaving

function begin() {
  const link = location.hash.match(/^#token=(.+)$/);
  if (link) {
    store("token", decodeURIComponent(link[1]));
    // It stays in no history.
    history.replaceState(null, "", `/${stored("route")}`);
  } else if (!location.hash && stored("route")) {
    history.replaceState(null, "", `/${stored("route")}`);
  }
  token = stored("token");
  if (token) enter();
  else leave("");
}

async function enter() {
  $("entrance").hidden = true;
  following?.close();
  for (let wait = 500; ; wait = Math.min(wait * 2, MOST_PATIENCE)) {
    try {
      place = (await get("/v1/status")).seq;
      await look();
      break;
    } catch (error) {
      if (!token) return;
      connection(error instanceof Refused ? error.message : "The daemon does not answer; trying again", true);
      await sleep(wait);
    }
  }
  $("index").hidden = false;
  follow();
  route();
}

function leave(problem) {
  token = "";
  store("token", "");
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
    from: place,
    take,
    connected: () => {
      connection("Connected", false);
      view?.back?.();
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
  place = event.seq;
  view?.take(event);
  const waited = sessions.some((one) => one.pane === event.pane && one.state === "needs_human");
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
  const before = new Map(sessions.map((one) => [one.session, one.state]));
  [sessions, circles] = await Promise.all([get("/v1/sessions"), get("/v1/gatherings")]);
  drawIndex();
  view?.refresh();
  const waiting = sessions.filter((one) => one.state === "needs_human");
  const news = waiting.filter((one) => before.get(one.session) !== "needs_human");
  if (news.length) announce(news.map((one) => `${one.title} needs a person`).join(". "));
  title();
}

function title() {
  const waiting = sessions.filter((one) => one.state === "needs_human").length;
  document.title = [view?.mine ? "◆ Your turn" : "", waiting ? `(${waiting})` : "", "streamrelay"].filter(Boolean).join(" ");
}

// Keeps the nodes of those who stay: focus and reading position are in them.
function drawList(list, items, { key, href, title, state, about }) {
  const nodes = new Map([...list.children].map((node) => [node.dataset.key, node]));
  items.forEach((item, at) => {
    let node = nodes.get(key(item));
    nodes.delete(key(item));
    if (!node) {
      node = element("li", {}, element("a", {}, element("bdi", { class: "title" }), element("span"), element("span", { class: "about" })));
      node.dataset.key = key(item);
    }
    const [link] = node.children;
    const [titled, stated, told] = link.children;
    link.setAttribute("href", href(item));
    write(titled, title(item));
    const [kind, words] = state(item);
    stated.className = `state ${kind}`;
    write(stated, words);
    write(told, about(item));
    if (link.getAttribute("href") === location.hash) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (list.children[at] !== node) list.insertBefore(node, list.children[at] ?? null);
  });
  for (const node of nodes.values()) node.remove();
}

function drawIndex() {
  drawList($("sessions"), sessions, {
    key: (one) => one.session,
    href: (one) => `#/session/${encodeURIComponent(one.session)}`,
    title: (one) => one.title,
    state: (one) => [one.state, STATES[one.state] ?? one.state],
    about: (one) => [one.agent || one.program, one.pane, one.in_relay && "in a conversation"].filter(Boolean).join(" · "),
  });
  $("no-sessions").hidden = sessions.length > 0;
  drawList($("circles"), circles, {
    key: (one) => one.gathering,
    href: (one) => `#/circle/${encodeURIComponent(one.gathering)}`,
    title: named,
    state: (one) => [one.state === "running" ? "busy" : one.state === "closed" ? "ended" : "idle", one.state],
    about: (one) => [phaseOf(one), holderOf(one)?.name, `${one.participants.length} take part`].filter(Boolean).join(" · "),
  });
  $("circles-section").hidden = circles.length === 0;
}

// Where one is

function route() {
  const [, kind, id] = location.hash.match(/^#\/(\w+)\/(.+)$/) ?? [];
  store("route", kind ? location.hash : "");
  const make = { session: SessionView, circle: CircleView }[kind];
  open(make ? new make(decodeURIComponent(id)) : null);
  drawIndex();
}

function open(next) {
  view?.close();
  view = next;
  title();
  document.body.dataset.view = next ? "one" : "list";
  $("welcome").hidden = next !== null;
  next?.begin();
}

// A list of lines that stays at its end while it is there, and leaves where it is whoever has scrolled up.
class Log {
  constructor(box, newest) {
    Object.assign(this, { box, newest, waiting: [], timer: 0 });
    box.replaceChildren();
    newest.onclick = () => this.toEnd();
    box.onscroll = () => (newest.hidden = this.atEnd());
    newest.hidden = true;
  }

  atEnd() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 40;
  }

  toEnd() {
    this.box.scrollTop = this.box.scrollHeight;
  }

  add(node) {
    this.waiting.push(node);
    if (this.waiting.length > 2 * KEPT_LINES) this.waiting.splice(0, KEPT_LINES);
    this.timer ||= setTimeout(() => this.draw(), 50);
  }

  draw() {
    this.timer = 0;
    const follows = this.atEnd();
    this.box.append(...this.waiting.splice(0).slice(-KEPT_LINES));
    while (this.box.childElementCount > KEPT_LINES) this.box.firstElementChild.remove();
    if (follows) this.toEnd();
    else this.newest.hidden = false;
  }

  close() {
    clearTimeout(this.timer);
  }
}

// One session

class SessionView {
  constructor(id) {
    this.id = id;
    this.shown = 0; // the number of the newest event that was drawn
    this.early = []; // what happens while the past is fetched
    this.closed = false;
  }

  get session() {
    return sessions.find((one) => one.session === this.id);
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
    for (let after = Math.max(0, place - TAIL), more = true; more && !this.closed; ) {
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
      await look();
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

// One gathering

const named = (circle) => circle.opening_question || `A ${circle.rhythm} gathering`;
const holderOf = (circle) => circle.participants.find((one) => one.number === circle.speaker);
const labelled = (one) => `${one.name} (${one.number})`;

function phaseOf(circle) {
  return circle.phase === "close" ? "close" : `${circle.phase} ${circle.round}/${circle.rounds}`;
}

class CircleView {
  constructor(id) {
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
    const left = Math.max(0, due - (Date.now() + skew) / 1000);
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
    title();
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

// Whoever looks again wants to see how it is

function again() {
  if (document.hidden || !token || !following) return;
  following.hurry();
  view?.back?.();
  lookSoon();
}

addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) begin();
  else if (location.hash.startsWith("#/") && token) route();
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
  token = $("token").value.trim().replace(/^.*#token=/, "");
  $("token").value = "";
  store("token", token);
  enter();
};
begin();
