// Trying an operation where it is described: what to begin with, a form, and what came back.
import { collectionPath, get, Problem, send } from "./api.js";
import { copy, duration, h } from "./dom.js";
import { parse, print } from "./json.js";

const LONGEST = 20_000; // characters of an answer that are shown

// Arguments to begin with, by name. Those of reads are about a chunk that is there, so that they
// succeed; those of writes name no collection and nothing that is there.
let reading = {};
const WRITING = {
  collection: "",
  name: "trial",
  chunk_id: "trial",
  document_id: "trial",
  chunk_ids: ["trial"],
  content: "A text to try things with.",
  text: "A text to try things with.",
  chunks: [{ chunk_id: "trial", content: "A text to try things with." }],
  updates: [{ chunk_id: "trial", metadata: { seen: true } }],
  metadata: { seen: true },
};
const ALWAYS = ["collection", "namespace", "query", "chunk_ids", "request", "text", "metadata"]; // even where none is required

export async function findSample(world) {
  const found = world.collections.find((one) => !one.damage && one.chunks > 0);
  const collection = found?.name ?? "default";
  const namespace = found && found.namespaces.length && !found.namespaces.includes("default") ? found.namespaces[0] : undefined;
  reading = { collection, namespace, query: "text", mission_text: "text" };
  if (!found) return;
  const where = namespace === undefined ? "" : `&namespace=${encodeURIComponent(namespace)}`;
  const { chunks } = await get(`${collectionPath(collection)}/chunks?limit=1${where}`);
  if (chunks.length === 0) return;
  const { chunk_id, document_id, content, title } = chunks[0];
  const words = (title || content).match(/[\p{L}\p{N}]+/gu)?.slice(0, 4).join(" ") ?? "text";
  Object.assign(reading, {
    query: words,
    mission_text: words,
    chunk_id,
    document_id,
    id: chunk_id,
    chunk_ids: [chunk_id],
    ids: [chunk_id],
    texts: [content.slice(0, 300)],
    requests: [{ query: words, collection, ...(namespace ? { namespace } : {}) }],
    queries: [{ id: "q1", text: words }],
    qrels: { q1: { [document_id]: 1 } },
    request: { collection, ...(namespace ? { namespace } : {}) },
  });
}

const PLAIN = { string: "text", integer: 1, number: 1, boolean: true, array: [], object: {}, null: null };

// What one argument begins with; undefined: nothing is known, and it may be left out.
function argument(name, schema, writes, required) {
  const known = writes ? WRITING : reading;
  if (Object.hasOwn(known, name)) return known[name];
  if (!required) return undefined;
  const type = Array.isArray(schema.type) ? schema.type.at(-1) : schema.type;
  return schema.examples?.[0] ?? schema.default ?? schema.const ?? schema.enum?.[0] ?? PLAIN[type] ?? null;
}

// A body to begin with, from the members of a schema: {name: schema}. `example` is the schema's own.
export function body(members, required, writes, example = {}) {
  const wanted = Object.keys(members).filter((name) => required.includes(name) || ALWAYS.includes(name) || (writes && name === "document_id"));
  const given = wanted.map((name) => [name, argument(name, members[name], writes, required.includes(name) && !(name in example))]);
  return { ...example, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) };
}

// The address with its parameters filled in. Browsers take "." and ".." for steps, escaped or not.
function addressOf(path, inputs) {
  let address = path;
  const query = new URLSearchParams();
  for (const { name, in: where, input } of inputs) {
    if (where === "path" && /^\.\.?$/.test(input.value)) throw new Error(`A browser cannot send the ${name} “${input.value}” in an address. Use JSON-RPC, below.`);
    if (where === "path") address = address.replace(`{${name}}`, encodeURIComponent(input.value));
    else if (input.value !== "") query.set(name, input.value);
  }
  return query.size ? `${address}?${query}` : address;
}

function shown(answer) {
  try {
    return print(parse(answer), 2);
  } catch {
    return answer; // as it came
  }
}

// What a change does, by its name: "Drop collection “x” and everything in it".
export function named(summary, collection) {
  const what = summary.split(/[;:]/)[0];
  if (!collection) return what;
  const whole = /\b(a|the) collection\b/;
  return whole.test(what) ? what.replace(whole, () => `collection “${collection}”`) : `${what} in “${collection}”`;
}

const MOMENT = 500; // milliseconds in which a press cannot be about a question that just came

// Fields, a body, a button, and what came back. `writes(body)`: whether that would change data; then
// another button sends it, named by `does(body, fields)`.
export function trial({ method, path, parameters = [], body = null, writes = () => false, does = () => "Change data", accept = "*/*", extra = {} }) {
  const changes = () => writes(text ? text.value : "");
  const inputs = parameters.filter((one) => one.in !== "header").map((one) => {
    const begin = one.required || one.name === "namespace" ? (writes("") ? "" : argument(one.name, one.schema, false, false)) : "";
    return { ...one, input: h("input", { type: "text", id: `try-${method}-${path}-${one.name}`.replace(/\W+/g, "-"), required: one.required, placeholder: one.required ? "required" : "", value: begin ?? "" }) };
  });
  const button = h("button", { class: "primary" }, "Try it");
  const question = h("div", { class: "question", role: "alert" });
  // It is not the form's own button: neither Enter in a field nor a second click sends a change.
  const ask = (request) => {
    let since = performance.now();
    const sure = () => {
      const early = performance.now() - since < MOMENT;
      since = performance.now();
      if (!early) run(request);
    };
    const cancel = () => {
      question.replaceChildren();
      button.focus();
    };
    question.replaceChildren(
      h("p", {}, "This changes data: ", h("code", {}, `${method} ${request.address}`)),
      h("button", { type: "button", onclick: cancel }, "Cancel"),
      h("button", { type: "button", class: "danger", onclick: sure }, does(request.body ?? "", Object.fromEntries(inputs.map(({ name, input }) => [name, input.value])))),
    );
  };
  const text = body === null ? null : h("textarea", { rows: Math.min(14, body.split("\n").length + 1), spellcheck: "false", "aria-label": "Body of the request" });
  if (text) text.value = body;
  const out = h("div", { class: "answer", "aria-live": "polite" });
  const submit = (event) => {
    event.preventDefault();
    const request = { address: path, body: text ? text.value : undefined };
    try {
      request.address = addressOf(path, inputs);
    } catch (error) {
      request.error = error;
    }
    if (!changes() || request.error) run(request);
    else if (question.childElementCount === 0) ask(request);
  };
  const run = async ({ address, body, error }) => {
    if (question.contains(document.activeElement)) button.focus();
    question.replaceChildren();
    const started = performance.now();
    let status = "";
    let answer = "";
    try {
      if (error) throw error;
      const response = await send(method, address, { body, accept, extra });
      status = `${response.status}`;
      answer = await response.text();
    } catch (error) {
      status = error instanceof Problem ? `${error.status || "no answer"} ${error.code}` : "not sent";
      answer = error.message;
    }
    answer = shown(answer);
    const copying = h("button", { class: "quiet", type: "button", onclick: () => copy(answer, copying) }, "Copy");
    out.replaceChildren(
      h("p", { class: "origin" }, `${method} ${address} → ${status}, ${duration(performance.now() - started)} `, copying),
      h("pre", { tabindex: 0, "aria-label": "Answer" }, answer.length > LONGEST ? `${answer.slice(0, LONGEST)}\n…` : answer || "(nothing)"),
    );
  };
  return h(
    "form",
    { class: "trial", onsubmit: submit, oninput: () => question.replaceChildren() },
    inputs.length ? h("div", { class: "row" }, inputs.map((one) => h("div", { class: "field" }, h("label", { for: one.input.id }, one.name), one.input))) : null,
    text,
    h("div", {}, button, changes() ? h("span", { class: "origin" }, " This changes data.") : null),
    question,
    out,
  );
}
