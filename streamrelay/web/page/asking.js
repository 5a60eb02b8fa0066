// Asking the daemon: calls, and streams that are taken up again where they broke off. Each shows the token.

import { sleep, store, stored } from "./drawing.js";

const SILENCE = 40_000; // ms; the daemon is never silent for longer than 15 s
const SUSPECT = 20_000;
const MAX_BACKOFF = 5_000; // between two attempts to connect

let token = "";
let skew = 0; // ms by which the daemon's clock is ahead of ours
let refused = () => {};

// A page whose token is not the daemon's (any more) goes back to the entrance.
export function whenRefused(leave) {
  refused = leave;
}

export function useToken(given) {
  token = given;
  store("token", token);
}

export function rememberToken() {
  token = stored("token");
  return token !== "";
}

export const hasToken = () => token !== "";
export const now = () => (Date.now() + skew) / 1000; // Unix time, by the daemon's clock

export class Refused extends Error {
  constructor({ code = "", message, hint }, status) {
    super([message ?? `The daemon answered with ${status}.`, hint].filter(Boolean).join(". "));
    this.code = code;
  }
}

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
  if (response.status === 401) refused();
  if (!response.ok) {
    throw new Refused(await response.json().catch(() => ({})), response.status);
  }
  return response;
}

export const get = async (path) => (await request("GET", path)).json();
export const post = async (path, body) => {
  const response = await request("POST", path, { body });
  return response.status === 204 ? null : response.json();
};

export const cancel = (path) => request("DELETE", path, { headers: { "content-type": "application/json" } });

// One stream of server-sent events, taken up again where it broke off for as long as it is wanted.
export class Stream {
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

  // The person may have been away: reconnect now, not after a while.
  hurry() {
    if (Date.now() - this.heard > SUSPECT) this.abort?.abort();
    this.wake();
  }

  async run() {
    for (let wait = 250; !this.ended; wait = Math.min(wait * 2, MAX_BACKOFF)) {
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
      this.heard = Date.now();
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
