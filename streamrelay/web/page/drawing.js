// Drawing: what programs say is hostile, so text goes into text nodes and nowhere else, and characters that cannot be
// seen or that turn text around are spelled out. A flood is drawn a few times a second, and no more lines are kept than
// a person scrolls through.

const KEPT_LINES = 2000;

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

export function write(node, text) {
  const words = plain(text);
  // Written again, a live region would be read out again.
  if (node.textContent !== words) node.textContent = words;
}

export function announce(text) {
  write($("announcement"), text);
}

// Keeps the nodes of those who stay: focus and reading position are in them.
export function drawList(list, items, { key, href, title, state, about }) {
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

// A list of lines that stays at its end while it is there, and leaves where it is whoever has scrolled up.
export class Log {
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
