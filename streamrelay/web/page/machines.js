// Other machines: how each stands, what waits for it and why; sessions there, which are called NAME@HOST; and the links
// and relays of this machine, whose members may be on any of them.
//
// A name is remote only if its host is a peer in the daemon's configuration. Names come from other machines, so they go
// into text nodes like the output of programs.

import { get } from "./asking.js";
import { $, drawList, element, plain, write } from "./drawing.js";

const MAX_NAMES = 1000; // names of remote sessions that are remembered
const seconds = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const STANDS = { present: "reachable", away: "away", unreachable: "not connected" };
const LINK = { open: "open", spent: "budget spent", suspended: "waits: a side is in a relay" };

export class Machines {
  constructor() {
    this.peers = [];
    this.links = [];
    this.relays = [];
    this.titles = new Map(); // id of a remote session: NAME@HOST
    this.parties = new Map(); // id of a link: its two sides, also after its end
  }

  async fetch() {
    [this.peers, this.links, this.relays] = await Promise.all([get("/v1/peers"), get("/v1/links"), get("/v1/relays")]);
    for (const { parties, relay } of this.links) {
      remember(this.parties, relay.relay, parties);
      for (const { session, title } of parties) this.name(session, title);
    }
    for (const { members } of this.relays) for (const { session, name } of members) this.name(session, name);
  }

  name(session, title) {
    if (this.nodeOf(session) && this.nodeOf(title)) remember(this.titles, session, title);
  }

  // The host in NAME@HOST if it is a peer; empty for a local name, whatever is in it.
  nodeOf(name) {
    const at = name.lastIndexOf("@");
    const node = name.slice(at + 1);
    return at > 0 && this.peers.some((peer) => peer.name === node) ? node : "";
  }

  // A session of another machine, as far as this one knows it: its state is that of its machine.
  session(id) {
    const peer = this.peers.find((one) => one.name === this.nodeOf(id));
    return peer && { session: id, pane: id, title: this.titles.get(id) ?? id, state: peer.state, peer };
  }

  // The other side of a link, by the link's id and a pane of this machine.
  otherSide(link, pane) {
    return this.parties.get(link)?.find((party) => party.pane !== pane)?.title ?? "";
  }

  linkedWith(pane) {
    return this.links.filter(({ parties }) => parties.some((party) => party.pane === pane)).map(({ relay }) => this.otherSide(relay.relay, pane));
  }
}

function remember(names, key, value) {
  names.delete(key);
  names.set(key, value);
  if (names.size > MAX_NAMES) names.delete(names.keys().next().value);
}

// In the words of `streamrelay peers`.
export const lagOf = (peer) => `${seconds.format(peer.lag)} s`;

export const waitingOf = (peer) => Object.values(peer.waiting).reduce((sum, count) => sum + count, 0);
export const standsAs = (peer) => STANDS[peer.state] ?? peer.state;

const kindsOf = (peer) => Object.entries(peer.waiting).map(([kind, count]) => `${count} ${kind}`).join(", ");

export function drawMachines(world) {
  const { peers, links, relays } = world.machines;
  $("machines-section").hidden = peers.length === 0;
  drawList($("machines"), peers, { key: (peer) => peer.name, make: row, fill: fillPeer });
  const conversations = [...links.map((link) => ofLink(world, link)), ...relays.map((relay) => ofRelay(world, relay))];
  $("conversations-section").hidden = conversations.length === 0;
  drawList($("conversations"), conversations, { key: (one) => one.id, make: row, fill: fillConversation });
  const names = [...new Set(world.machines.titles.values())];
  drawList($("remote-names"), names, { key: (name) => name, make: () => element("option"), fill: (node, name) => (node.value = name) });
}

function row() {
  const about = element("span", { class: "about" }, element("span"), element("span"));
  return element("li", {}, element("div", { class: "card" }, element("bdi", { class: "title" }), element("span"), element("span", { class: "last" }), about));
}

function fillPeer(node, peer) {
  const [title, state, why, about] = node.firstElementChild.children;
  write(title, peer.name);
  state.className = `state ${peer.state}`;
  write(state, standsAs(peer));
  write(why, peer.why || (peer.state === "present" ? "Nothing waits for it." : "Messages for it wait here, on disk."));
  const waiting = waitingOf(peer);
  const refused = Object.entries(peer.refused).map(([reason, count]) => `${count} refused (${reason})`);
  const facts = [waiting ? `${kindsOf(peer)} waiting` : "", ...refused, peer.slowed ? `${peer.slowed} put off` : ""];
  write(about.firstElementChild, facts.filter(Boolean).join(" · "));
  write(about.lastElementChild, waiting ? `for ${lagOf(peer)}` : "");
}

function ofLink(world, { parties, policy, relay }) {
  const { budget, deliveries, spent, suspended_by: suspended } = relay.standing;
  const state = suspended ? "suspended" : spent ? "spent" : "open";
  const made = `${deliveries}${budget ? ` of ${budget}` : ""} deliveries`;
  const one = { from_a: "one way", from_b: "one way" }[policy.direction] ?? "";
  const members = parties.map(({ session, title }) => ({ session, name: title }));
  return { id: relay.relay, members: members.map((member) => named(world, member)), state: state === "open" ? "busy" : "idle", words: LINK[state], about: [relay.relay, made, one] };
}

function ofRelay(world, { relay, members, deliveries, budget, paused }) {
  const made = `${deliveries}${budget ? ` of ${budget}` : ""} deliveries`;
  const about = [relay, made];
  return { id: relay, members: members.map((member) => named(world, member)), state: paused ? "idle" : "busy", words: paused ? "paused" : "open", about };
}

// A session is called here what its card is called; a session of another machine NAME@HOST.
function named({ sessions }, { session, name, gone, muted }) {
  const title = sessions.find((one) => one.session === session)?.title ?? name;
  return { session, title: title + (gone ? " (has left)" : muted ? " (muted)" : "") };
}

function fillConversation(node, one) {
  const [title, state, , about] = node.firstElementChild.children;
  const key = JSON.stringify(one.members);
  if (title.dataset.members !== key) {
    title.dataset.members = key;
    const links = one.members.map(({ session, title: words }) => element("a", { href: `#/session/${encodeURIComponent(session)}` }, element("bdi", {}, plain(words))));
    title.replaceChildren(...links.flatMap((link, at) => (at ? [" – ", link] : [link])));
  }
  state.className = `state ${one.state}`;
  write(state, one.words);
  write(about.firstElementChild, one.about.filter(Boolean).join(" · "));
}

// Opens the session that a person has named: NAME@HOST, or one of this machine by title, id or pane.
export function offerNames(world) {
  $("go").onsubmit = (event) => {
    event.preventDefault();
    const name = $("go-name").value.trim();
    const here = world.sessions.filter((one) => [one.session, one.title, one.pane].includes(name));
    const problem = wrong(world.machines, name, here);
    write($("go-problem"), problem);
    if (problem) return $("go-name").focus();
    $("go-name").value = "";
    location.hash = `#/session/${encodeURIComponent(here[0]?.session ?? name)}`;
  };
}

function wrong(machines, name, here) {
  if (here.length === 1 || machines.nodeOf(name)) return "";
  if (here.length > 1) return `${here.length} sessions are called ${name}. Open one by its card.`;
  const hosts = machines.peers.map((peer) => peer.name).join(", ");
  return name.includes("@") ? `${name} names no known machine. Known: ${hosts}.` : `No session here is called ${name}. A session of another machine is NAME@HOST, with one of: ${hosts}.`;
}
