// A place to drop files: each becomes a document of a collection, and says how far it is.
import { collectionPath, get, patiently, send } from "./api.js";
import { bytes, counted, h, icon, ICONS, number, put, say } from "./dom.js";

const LINES = 400; // of one request, so that progress can be shown
const PART = 8_000_000; // characters of one request
const LISTS = ["jsonl", "ndjson"];
const LARGE = 4_000_000; // bytes; above, it is looked up whether the server takes so much
const MANY = 24; // files; more are not all listed
const PASSING = [0, 401, 403, 408, 429]; // statuses after which the same file may do

const ending = (name) => name.slice(name.lastIndexOf(".") + 1).toLowerCase();

const write = (path, body, type) => patiently(async () => (await send("POST", path, { body, type })).json(), () => true);

// A server that refuses a body hangs up while it is sent, so that its reason may not be read.
let most = null;
async function checkSize(file) {
  if (file.size < LARGE) return;
  most ??= (await get("/v1/openapi.json")).paths["/v1/documents"].post.requestBody.content["application/octet-stream"]["x-max-bytes"];
  if (file.size > most) throw new Error(`The file is ${bytes(file.size)}; the server accepts at most ${bytes(most)}. Split it into smaller files.`);
}

// Writes a file into a collection, lines of JSON in parts. What was written before something went
// wrong stays, and is not written again when `job` is taken up once more.
async function ingest(job, collection) {
  const { file, name } = job;
  if (!LISTS.includes(ending(name))) {
    await checkSize(file);
    const { documents } = await write(`/v1/documents?${new URLSearchParams({ name, collection })}`, file, "application/octet-stream");
    job.chunks = documents.reduce((sum, one) => sum + one.chunks, 0);
    job.notes = documents.flatMap((one) => one.warnings);
    return;
  }
  if (file.size === 0) {
    job.notes = ["it is empty"];
    return;
  }
  let lines = 0;
  let read = 0;
  for await (const part of linesOf(file)) {
    if (lines >= job.lines && part.some((line) => line.trim())) {
      const done = await write(`${collectionPath(collection)}/chunks`, part.join("\n"), "application/x-ndjson");
      job.chunks += done.written;
      // The server counts lines from the first of the part; each line is a text of its own to it.
      job.failed.push(...done.results.filter((one) => one.error).map((one) => `line ${number(one.line + lines)}: ${one.error.message.replace(/^line 1, column \d+: /, "")}`));
    }
    lines += part.length;
    job.lines = Math.max(job.lines, lines);
    read += part.reduce((sum, line) => sum + line.length + 1, 0);
    job.bar.value = Math.min(1, read / file.size);
  }
  if (job.chunks === 0 && job.failed.length === 0) throw new Error("The file contains no chunks.");
}

// Bytes that are no UTF-8 end it: to replace them would store another text, without a word.
async function* utf8Of(file) {
  try {
    yield* file.stream().pipeThrough(new TextDecoderStream("utf-8", { fatal: true }));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Error("It is not UTF-8. Save it as UTF-8, and drop it again.");
  }
}

// The lines of a file, some at a time: it may be larger than memory.
async function* linesOf(file) {
  let rest = "";
  let part = [];
  let size = 0;
  for await (const text of utf8Of(file)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      part.push(line);
      size += line.length;
      if (part.length < LINES && size < PART) continue;
      yield part;
      part = [];
      size = 0;
    }
  }
  if (rest.trim()) part.push(rest);
  if (part.length) yield part;
}

const inFolder = (entry, method) => new Promise((done, failed) => entry[method](done, failed));

// The files of an entry, those of folders within it too, with the way to them as their name.
async function* filesIn(entry) {
  if (!entry.isDirectory) {
    yield { file: await inFolder(entry, "file"), name: entry.fullPath.replace(/^\//, "") };
    return;
  }
  const reader = entry.createReader();
  for (let some = await inFolder(reader, "readEntries"); some.length; some = await inFolder(reader, "readEntries")) {
    for (const one of some) yield* filesIn(one);
  }
}

// What was dropped. Its items are gone with the event: they are taken before anything is waited for.
async function droppedFiles(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file").map((item) => ({ entry: item.webkitGetAsEntry?.(), file: item.getAsFile() }));
  const found = [];
  for (const { entry, file } of items) {
    if (!entry?.isDirectory) found.push({ file, name: file.name });
    else for await (const one of filesIn(entry)) found.push(one);
  }
  return found;
}

// The browser asks before it closes the tab while files are on their way.
addEventListener("beforeunload", (event) => tally.running + tally.waiting > 0 && event.preventDefault());

// What was dropped in this tab stays to be seen when somebody comes back from another page. Of many
// files those are listed that are on their way or went wrong; a line counts them all.
const list = h("ul", { class: "progress" });
const tally = { waiting: 0, running: 0, done: 0, partly: 0, failed: 0 };
const waiting = new Set();
const total = h("span", {});
const stop = h("button", { class: "quiet", onclick: () => {
  tally.waiting = 0;
  for (const job of waiting) job.element.remove();
  waiting.clear();
  tellAll();
} }, "Stop");
const summary = h("p", { hidden: true }, total, " ", stop);
let taken = () => {};

function tellAll() {
  const all = Object.values(tally).reduce((sum, one) => sum + one, 0);
  summary.hidden = all <= MANY;
  list.classList.toggle("many", all > MANY);
  const { done, partly, failed } = tally;
  total.textContent = [`${number(done + partly)} of ${counted(all, "file")} added`, partly && `${number(partly)} in part`, failed && `${number(failed)} failed`].filter(Boolean).join(", ");
  stop.hidden = tally.waiting === 0;
  if (tally.waiting + tally.running === 0 && all > MANY) say(total.textContent);
}

// One file on its way, as a line of the list; its class says how far it is.
function jobOf({ file, name }, collection) {
  const bar = h("progress", { max: 1, value: 0, "aria-label": name });
  const told = h("span", { class: "origin" }, "waiting");
  const again = h("button", { class: "quiet", hidden: true, onclick: () => job.run() }, "Try again");
  const element = h("li", {}, h("b", {}, name), bar, h("span", {}, told, " ", again));
  const job = { file, name, bar, element, chunks: 0, lines: 0, failed: [], notes: [] };
  const become = (kind, text) => {
    if (element.className) --tally[element.className];
    ++tally[kind];
    element.className = kind;
    told.textContent = text;
    tellAll();
  };
  const end = (kind, text, share) => {
    become(kind, text);
    bar.value = share;
    if (summary.hidden) say(`${name}: ${text}`);
  };
  become("waiting", "waiting");
  waiting.add(job);
  job.run = async () => {
    again.hidden = true;
    waiting.delete(job);
    become("running", "reading, splitting, embedding …");
    bar.removeAttribute("value");
    try {
      await ingest(job, collection);
      const failed = job.failed.length ? `; ${counted(job.failed.length, "line")} failed: ${job.failed[0]}` : "";
      const noted = job.notes.map((note) => `; ${note}`).join("");
      end(failed ? "partly" : "done", `${counted(job.chunks, "chunk")}${failed}${noted}`, 1);
    } catch (error) {
      end("failed", error.message, 0);
      again.hidden = !(PASSING.includes(error.status) || error.status >= 500);
    }
  };
  return job;
}

// Null for those who may write nowhere. `then()` is called once files are in.
export function dropZone(world, then) {
  if (!world.mayWrite()) return null;
  taken = then;
  const granted = Object.keys(world.rights.grants).filter((one) => world.mayWrite(one)); // perhaps not there yet
  const known = [...world.collections.map((one) => one.name), ...granted.filter((one) => !one.endsWith("*"))];
  const writable = [...new Set(known)].filter((name) => world.mayWrite(name));
  const beginnings = granted.filter((one) => one.length > 1 && one.endsWith("*"));
  const names = h("datalist", { id: "collection-names" }, writable.map((name) => h("option", { value: name })));
  const usual = world.mayWrite("default") ? "default" : writable[0];
  const name = h("input", { type: "text", id: "into", value: usual ?? "", list: "collection-names", title: "Letters, digits, - and _; 100 at most", placeholder: beginnings.length ? `${beginnings[0].slice(0, -1)}…` : "", pattern: "[A-Za-z0-9_\\-]{1,100}", required: true });
  const files = h("input", { type: "file", id: "files", "aria-label": "Files to add", tabindex: -1, multiple: true, class: "unseen", onchange: () => take([...files.files].map((file) => ({ file, name: file.name }))) });
  const take = async (found) => {
    if (!name.reportValidity()) return;
    const added = found.map((one) => jobOf(one, name.value.trim()));
    list.prepend(put(new DocumentFragment(), added.map((job) => job.element)));
    for (const job of added) if (waiting.has(job)) await job.run();
    files.value = "";
    taken();
  };
  const zone = h(
    "section",
    {
      class: "drop",
      ondragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
      ondragleave: () => zone.classList.remove("over"),
      ondrop: async (event) => { event.preventDefault(); zone.classList.remove("over"); take(await droppedFiles(event.dataTransfer)); },
    },
    h("h2", {}, "Drop files or folders here"),
    h("p", {}, "Text, Markdown, HTML, PDF, office documents, mail, code, or JSON Lines with a chunk per line. A file replaces the one with the same name."),
    h("div", { class: "row" }, h("div", { class: "field" }, h("label", { for: "into" }, "Collection"), name, names), h("button", { onclick: () => files.click() }, icon(ICONS.file), "Choose files"), files),
    summary,
    list,
  );
  return zone;
}
