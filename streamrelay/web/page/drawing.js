// Drawing. What programs say is hostile, so text goes into text nodes and nowhere else, and characters that cannot be
// seen or that turn text around are spelled out. A flood is drawn a few times a second, and no more lines are kept than
// a person scrolls through.

const KEPT_LINES = 2000;
const READ_OUT = 20; // lines at once; a live region that gets more is not read out
const REST = 60; // seconds of silence after which a new block begins

export const $ = (id) => document.getElementById(id);
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
export const stored = (name) => localStorage.getItem(name) ?? "";
export const store = (name, value) => (value ? localStorage.setItem(name, value) : localStorage.removeItem(name));

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function plain(text) {
  return String(text ?? "").replace(UNSEEN, (one) => `<${one.codePointAt(0).toString(16).padStart(4, "0").toUpperCase()}>`);
}

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function icon(name) {
  const [svg, use] = ["svg", "use"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

export function write(node, text) {
  const words = plain(text);
  // Written again, a live region would be read out again.
  if (node.textContent !== words) node.textContent = words;
}

export function announce(text) {
  write($("announcement"), text);
}

// Times. `at` is Unix time; every one shows the full date and time on hover.

const DAY = 86_400;
const clock = new Intl.DateTimeFormat([], { timeStyle: "short" });
const full = new Intl.DateTimeFormat([], { dateStyle: "full", timeStyle: "medium" });
const day = new Intl.DateTimeFormat([], { weekday: "long", day: "numeric", month: "long" });
const date = new Intl.DateTimeFormat([], { day: "numeric", month: "short" });

export const dayOf = (at) => day.format(at * 1000);

export function clockTime(at) {
  const time = element("time", { datetime: new Date(at * 1000).toISOString(), title: full.format(at * 1000) });
  time.append(clock.format(at * 1000));
  return time;
}

export function ago(at, now) {
  const seconds = Math.max(0, now - at);
  if (seconds < 5) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < DAY) return `${Math.floor(seconds / 3600)} h ago`;
  return date.format(at * 1000);
}

export function writeAgo(time, at, now) {
  const value = at ? String(at) : "";
  if (time.dataset.at !== value) {
    time.dataset.at = value;
    time.setAttribute("datetime", at ? new Date(at * 1000).toISOString() : "");
    time.title = at ? full.format(at * 1000) : "";
  }
  write(time, at ? ago(at, now) : "");
}

export function refreshTimes(now) {
  for (const time of document.querySelectorAll("time[data-at]")) writeAgo(time, Number(time.dataset.at), now);
}

// Keeps the nodes of items that stay: focus and reading position are in them. While a person points at the list or has
// the focus in it, no item moves.
export function drawList(list, items, { key, make, fill }) {
  const nodes = new Map([...list.children].map((node) => [node.dataset.key, node]));
  const pointed = matchMedia("(hover: hover)").matches && list.matches(":hover");
  const still = pointed || list.querySelector(":focus-visible") !== null;
  const kept = still ? [...nodes.keys()] : [];
  const place = (item) => (kept.includes(key(item)) ? kept.indexOf(key(item)) : kept.length);
  const ordered = still ? items.toSorted((one, other) => place(one) - place(other)) : items;
  ordered.forEach((item, at) => {
    let node = nodes.get(key(item));
    nodes.delete(key(item));
    if (!node) {
      node = make();
      node.dataset.key = key(item);
    }
    fill(node, item);
    if (list.children[at] !== node) list.insertBefore(node, list.children[at] ?? null);
  });
  for (const node of nodes.values()) node.remove();
}

// A transcript that stays at its end while it is there, and stays where the person has scrolled up to. Consecutive
// lines of one `group` ({key, at, head}) form a block under one head.
export class Log {
  constructor(box, newest) {
    Object.assign(this, { box, newest, waiting: [], timer: 0, count: 0, block: null, day: "" });
    box.replaceChildren();
    newest.onclick = () => this.toEnd();
    box.onscroll = () => (newest.hidden = this.atEnd());
    newest.hidden = true;
    // What comes when the box gets smaller (a keyboard, a composer that grows) stays in view.
    this.resizing = new ResizeObserver(() => this.follows && this.toEnd());
    this.resizing.observe(box);
    this.follows = true;
  }

  atEnd() {
    return (this.follows = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 40);
  }

  toEnd() {
    this.box.scrollTop = this.box.scrollHeight;
  }

  add(line, group = null) {
    this.waiting.push([line, group]);
    if (this.waiting.length > 2 * KEPT_LINES) this.waiting.splice(0, KEPT_LINES);
    this.timer ||= setTimeout(() => this.draw(), 50);
  }

  draw() {
    this.timer = 0;
    const follows = this.atEnd();
    const drawn = this.waiting.splice(0).slice(-KEPT_LINES);
    this.box.setAttribute("aria-live", drawn.length > READ_OUT ? "off" : "polite");
    for (const [line, group] of drawn) this.append(line, group);
    this.count += drawn.length;
    for (; this.count > KEPT_LINES; this.count--) this.forget();
    if (follows) this.toEnd();
    else this.newest.hidden = false;
  }

  append(line, group) {
    if (!group) {
      this.block = null;
      this.box.append(line);
      return;
    }
    const { key, at, head } = group;
    if (this.block?.key !== key || at - this.block.at > REST) {
      const today = dayOf(at);
      if (this.day && this.day !== today) this.box.append(element("p", { class: "day" }, today));
      this.day = today;
      this.block = { key, node: element("section", { class: "block" }, head()) };
      this.box.append(this.block.node);
    }
    this.block.at = at;
    this.block.node.append(line);
  }

  // Drops the oldest line, and with the last line of a block its head.
  forget() {
    const oldest = this.box.firstElementChild;
    if (oldest.classList.contains("block") && oldest.childElementCount > 2) oldest.children[1].remove();
    else {
      oldest.remove();
      if (oldest.classList.contains("day")) this.forget();
    }
  }

  close() {
    clearTimeout(this.timer);
    this.resizing.disconnect();
  }
}

// A field that grows with its text, as far as its style lets it.
export function grow(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}

// Ctrl+Enter in a field does what its form's button does.
export function submitsByKeyboard(field, button) {
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !button.disabled) field.form.requestSubmit();
  });
}

export function offerCopies() {
  for (const command of document.querySelectorAll(".command")) {
    const button = element("button", { class: "copy", type: "button" }, "Copy");
    button.onclick = async () => {
      const code = command.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        write(button, "Copied");
        setTimeout(() => write(button, "Copy"), 2000);
      } catch {
        // No clipboard without TLS from another machine: the text is selected for the person to copy.
        getSelection().selectAllChildren(code);
      }
    };
    command.append(button);
  }
}
