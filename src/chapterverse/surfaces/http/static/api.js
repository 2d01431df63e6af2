// Everything the page asks of the service. Addresses are relative to where this file came from, and to nowhere else.

import { kept } from "./kept.js";

const HERE = new URL("..", import.meta.url);
const KEY = "chapterverse-key";
const session = kept("sessionStorage");

/** What the service answered instead of what was asked for; `detail` is for people. */
export class ServiceError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export const address = (path, parameters = {}) => {
  const url = new URL(path, HERE);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) url.searchParams.set(name, value);
  }
  return url;
};

/** The key of a service that wants one; kept for as long as this tab is open. */
export const key = {
  get: () => session.getItem(KEY),
  set: (value) => session.setItem(KEY, value),
  headers: () => (key.get() ? { Authorization: `Bearer ${key.get()}` } : {}),
};

export const getBooks = () => get("books");
export const getOutline = (index, file) => get("books/outline", { index, file });
export const getText = (index, file, part) => get("books/text", { index, file, part });

async function get(path, parameters) {
  const response = await reach(address(path, parameters), { headers: key.headers() });
  return response.json();
}

/** Ask, and hand each event on as it comes: `stage`, `sentence`, and at last `answer`, which is returned as well. */
export async function ask(body, { signal, on = () => {} } = {}) {
  const response = await reach(address("ask"), {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream", ...key.headers() },
    body: JSON.stringify(body),
    signal,
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const events = new Events();
  for (;;) {
    const { done, value } = await reader.read().catch(brokenOff);
    for (const { name, data } of events.feed(value ?? "")) {
      if (name === "error") throw new ServiceError(response.status, data.detail);
      on(name, data);
      if (name === "answer") return data;
    }
    if (done) brokenOff();
  }
}

/** What ends an answer before its end, but for its reader; browsers only say “network error”, each in its own words. */
function brokenOff(error) {
  if (error?.name === "AbortError") throw error;
  throw new ServiceError(0, "The answer broke off. Please ask again.");
}

/**
 * Add a book. Its progress is real: first what the browser has sent, then what the service says. Aborting cancels it.
 * XMLHttpRequest, since fetch does not tell how much has been sent.
 */
export function addBook(file, { signal, on }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const events = new Events();
    let seen = 0;
    const read = () => {
      const news = request.responseText.slice(seen);
      seen += news.length;
      for (const { name, data } of events.feed(news)) {
        if (name === "progress") on(data);
        else if (name === "result") resolve(data);
        else if (name === "error") reject(new ServiceError(request.status, data.detail));
      }
    };
    request.open("POST", address("books", { name: file.name }));
    for (const [name, value] of Object.entries(key.headers())) request.setRequestHeader(name, value);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = ({ loaded, total }) => on({ stage: "sending", done: loaded, of: total });
    request.onprogress = () => request.status === 200 && read();
    request.onload = () => {
      if (request.status === 200) read();
      reject(new ServiceError(request.status, detailOf(request.responseText) ?? "The service stopped half-way."));
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new DOMException("Cancelled", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/** Server-sent events out of a stream of text that may be cut anywhere. */
class Events {
  #rest = "";

  feed(text) {
    const blocks = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop();
    return blocks
      .filter((block) => /^data:/m.test(block))
      .map((block) => {
        const field = (name) =>
          block
            .split("\n")
            .filter((line) => line.startsWith(`${name}:`))
            .map((line) => line.slice(name.length + 1).trim());
        return { name: field("event")[0] ?? "message", data: JSON.parse(field("data").join("\n")) };
      });
  }
}

async function reach(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw unreachable();
  }
  if (!response.ok) {
    const detail = detailOf(await response.text());
    throw new ServiceError(response.status, detail ?? `The service answered ${response.status}.`);
  }
  return response;
}

function detailOf(text) {
  try {
    return JSON.parse(text).detail ?? null;
  } catch {
    return null;
  }
}

const unreachable = () =>
  new ServiceError(0, `Nothing answers at ${HERE.origin}. Is “chapterverse serve” still running?`);
