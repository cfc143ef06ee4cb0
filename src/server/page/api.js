// The server, as this page calls it. The key lives in this variable and nowhere else.
import { sentence } from "./dom.js";
import { parse, print } from "./json.js";

let key = "";
const listeners = new Set();

export class Problem extends Error {
  constructor(status, code, message, retryAfter = 0) {
    super(message);
    this.status = status; // 0: no answer at all
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

export const hasKey = () => key !== "";
// Gives the one before.
export const useKey = (value) => {
  const before = key;
  key = value;
  return before;
};
// Is told of every answer: "ok", "offline" or "unauthenticated".
export const onConnection = (listener) => listeners.add(listener);
const tell = (state) => listeners.forEach((listener) => listener(state));

async function problemOf(response) {
  let told = {};
  try {
    told = await response.json();
  } catch {
    // Somebody else answered, a proxy perhaps.
  }
  return new Problem(
    response.status,
    told.code ?? "unknown",
    sentence(told.detail ?? `The server answered ${response.status} ${response.statusText}`),
    Number(response.headers.get("Retry-After")) || 0,
  );
}

// The response itself; a Problem for everything but success.
export async function send(method, path, { body, type = "application/json", signal, accept = "application/json", extra = {} } = {}) {
  const headers = { Accept: accept, ...extra };
  // What no header can hold is no key of this server.
  if (key) headers.Authorization = `Bearer ${key.replace(/[^\x21-\xff]/g, "?")}`;
  if (body !== undefined) headers["Content-Type"] = type;
  let response;
  try {
    response = await fetch(path, { method, headers, body, signal, credentials: "omit", cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    tell("offline");
    throw new Problem(0, "offline", "The server is not responding.");
  }
  if (!response.ok) {
    const problem = await problemOf(response);
    tell(problem.code === "unauthenticated" ? "unauthenticated" : "ok");
    throw problem;
  }
  tell("ok");
  return response;
}

const read = async (response) => parse(await response.text());
export const get = async (path, options) => read(await send("GET", path, options));
export const post = async (path, body, options) => read(await send("POST", path, { ...options, body: print(body) }));

const part = encodeURIComponent;
export const collectionPath = (name) => `/v1/collections/${part(name)}`;

// By JSON-RPC: an id may be "." or "..", which no path of an address can hold.
async function call(method, params) {
  const { result, error } = await post("/rpc", { jsonrpc: "2.0", id: 1, method, params });
  if (error) throw new Problem(400, error.data?.code ?? "unknown", sentence(error.message));
  return result;
}
export const documentOf = ({ collection, namespace, document_id }) => call("braid.document", { collection, namespace, document_id });
export const neighborsOf = ({ collection, namespace, chunk_id }, count) => call("braid.neighbors", { collection, namespace, chunk_id, count });

// Does it again where the server says when, as long as it is wanted.
export async function patiently(work, wanted, waiting) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!error.retryAfter || !wanted()) throw error;
      waiting?.();
      await new Promise((done) => setTimeout(done, error.retryAfter * 1000));
      if (!wanted()) throw error;
    }
  }
}

const TEXTS = 999; // of one call; the server takes 1,000

const WORDS = 2000; // characters that are looked for at most

// What was looked for, in plain words: corrected ones and those that patterns stood for are told by
// the hits. A query in the query language may name words that must not be there.
export function wordsOf({ query, query_understood, corrections = [], chunks }) {
  const found = chunks.flatMap(({ content, matches = [] }) => {
    const points = Array.from(content);
    return matches.map(([begin, end]) => points.slice(begin, end).join("").toLowerCase());
  });
  const words = [query_understood ? "" : query, ...corrections.map((one) => one.instead), ...found];
  return [...new Set(words)].join(" ").trim().slice(0, WORDS);
}

// Where the words stand in each of these texts, as the collection's analyzer finds them; nowhere if
// that cannot be said: an answer is worth showing without.
export async function matchesIn(words, collection, texts, signal) {
  const found = [];
  const asked = words && texts.some(Boolean);
  try {
    for (let at = 0; asked && at < texts.length; at += TEXTS) {
      const some = texts.slice(at, at + TEXTS);
      const answer = await post(`${collectionPath(collection)}/highlight`, { query: words, texts: some, window: 1 }, { signal });
      found.push(...answer.texts.map((one) => one.matches));
    }
  } catch {
    // Shown without.
  }
  return texts.map((_, i) => found[i] ?? []);
}
