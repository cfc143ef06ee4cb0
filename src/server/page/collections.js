// What there is: collections and their sizes, how fast the server answers, and a place to drop files.
import { collectionPath, get, send } from "./api.js";
import { bytes, counted, h, icon, ICONS, number, say, sentence } from "./dom.js";
import { bars, histogram, histograms, parts, readMetrics, segments } from "./plots.js";

const LINES = 400; // of one request, so that progress can be shown
const LISTS = ["jsonl", "ndjson"];

const ending = (name) => name.slice(name.lastIndexOf(".") + 1).toLowerCase();

// Writes one file into a collection, lines of JSON in parts, and says how far it is:
// `progress(share)`. Gives the number of chunks, or throws what went wrong; what was written before
// stays.
async function ingest({ file, name }, collection, progress) {
  if (!LISTS.includes(ending(name))) {
    const where = new URLSearchParams({ name, collection });
    const response = await send("POST", `/v1/documents?${where}`, { body: file, type: "application/octet-stream" });
    const { documents } = await response.json();
    progress(1);
    return { chunks: documents.reduce((sum, one) => sum + one.chunks, 0), failed: [] };
  }
  let chunks = 0;
  const failed = [];
  let lines = 0;
  let read = 0;
  for await (const part of linesOf(file)) {
    const response = await send("POST", `${collectionPath(collection)}/chunks`, { body: part.join("\n"), type: "application/x-ndjson" });
    const done = await response.json();
    chunks += done.written;
    // The server counts lines from the first of the part; each line is a text of its own to it.
    failed.push(...done.results.filter((one) => one.error).map((one) => `line ${number(one.line + lines)}: ${one.error.message.replace(/^line 1, column \d+: /, "")}`));
    lines += part.length;
    read += part.reduce((sum, line) => sum + line.length + 1, 0);
    progress(Math.min(1, read / file.size));
  }
  return { chunks, failed };
}

// The lines of a file, some at a time: it may be larger than memory.
async function* linesOf(file) {
  let rest = "";
  let part = [];
  for await (const text of file.stream().pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    part.push(...lines);
    while (part.length >= LINES) yield part.splice(0, LINES);
  }
  if (rest.trim()) part.push(rest);
  if (part.length) yield part;
}

const SHOWN = 20; // namespaces of a collection

const someOf = (names) => names.slice(0, SHOWN).join(", ") + (names.length > SHOWN ? ` and ${number(names.length - SHOWN)} more` : "");

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

export class CollectionsPage {
  constructor(world) {
    this.world = world;
    document.title = "Collections · braid";
    this.list = h("div", { class: "cards" });
    this.server = h("section", { class: "server" });
    this.element = h(
      "div",
      { class: "plain" },
      h("h1", {}, "Collections"),
      this.list,
      this.drop(),
      this.server,
    );
    this.show();
    this.timer = setInterval(() => document.visibilityState === "visible" && this.measure(), 5000);
  }

  leave() {
    clearInterval(this.timer);
  }

  search() {
    this.show(); // the server is back
  }

  async show() {
    try {
      await this.world.load();
    } catch (error) {
      this.list.replaceChildren(h("p", { class: "state error" }, error.message));
      return;
    }
    const all = this.world.collections;
    this.options?.replaceChildren(...all.map((one) => h("option", { value: one.name })));
    if (all.length === 0) {
      this.list.replaceChildren(h("p", { class: "state" }, "There is none yet. The first file you drop below makes one."));
    } else {
      this.list.replaceChildren(...all.map((one) => this.card(one, Math.max(...all.map((other) => other.chunks)))));
    }
    this.measure();
  }

  card(collection, most) {
    const sizes = h("div", {});
    const schema = collection.schema;
    this.sizes(collection, sizes, most);
    return h(
      "article",
      { class: "card" },
      h("header", {}, h("h2", {}, h("a", { href: `/#c=${encodeURIComponent(collection.name)}` }, collection.name)), this.world.mayWrite(collection.name) ? null : h("span", { class: "chip" }, "read-only")),
      collection.damage ? h("p", { class: "note warning" }, sentence(collection.damage)) : sizes,
      h(
        "dl",
        {},
        h("dt", {}, "vectors"), h("dd", {}, schema.embedder === "none" ? "none: words alone" : `${schema.embedder}, ${schema.dimension} × ${schema.metric}`),
        h("dt", {}, "words"), h("dd", {}, `${schema.analyzer}${schema.analyzer === "standard" ? `, ${schema.language}` : ""}; BM25 ${schema.bm25.variant}, k1 ${schema.bm25.k1}, b ${schema.bm25.b}`),
        collection.namespaces.length > 1 ? [h("dt", {}, "namespaces"), h("dd", {}, someOf(collection.namespaces))] : null,
      ),
    );
  }

  async sizes(collection, place, most) {
    const rows = [["chunks", collection.chunks, number(collection.chunks)]];
    try {
      const namespaces = collection.namespaces.length ? collection.namespaces.slice(0, SHOWN) : ["default"];
      const all = await Promise.all(namespaces.map((name) => get(`${collectionPath(collection.name)}/stats?namespace=${encodeURIComponent(name)}`)));
      const sum = (key) => all.reduce((total, one) => total + one[key], 0);
      const { index, bytes_on_disk, bytes_by_part } = all[0]; // of all namespaces
      if (collection.namespaces.length <= SHOWN) rows.push(["with vectors", sum("vectors"), number(sum("vectors")), "dense"]);
      rows.push(["documents", collection.documents, number(collection.documents)]);
      const words = sum("chunks") ? all.reduce((total, one) => total + one.average_length * one.chunks, 0) / sum("chunks") : 0;
      place.replaceChildren(
        ...[
          bars(rows, most),
          h("p", { class: "origin" }, `${counted(sum("terms"), "different word")}, ${words.toFixed(1)} words a chunk${collection.namespaces.length > SHOWN ? `, in the first ${SHOWN} namespaces` : ""}`),
          bytes_on_disk ? parts(bytes_on_disk, bytes_by_part) : null,
          index ? segments(index) : null,
        ].filter(Boolean),
      );
    } catch (error) {
      place.replaceChildren(bars(rows, most), h("p", { class: "none" }, error.message));
    }
  }

  // Histograms of /metrics, for those who may see them.
  async measure() {
    let samples;
    try {
      samples = readMetrics(await (await send("GET", "/metrics", { accept: "text/plain" })).text());
    } catch (error) {
      this.server.replaceChildren(...(error.status === 403 ? [h("p", { class: "none" }, "Latencies are for keys that see everything.")] : []));
      return;
    }
    const value = (name) => samples.find((one) => one.name === name)?.value ?? 0;
    const routes = [...histograms(samples, "braid_http_request_duration_seconds", "route")].filter(([, one]) => one.total > 0).sort((a, b) => b[1].sum - a[1].sum);
    const stages = [...histograms(samples, "braid_stage_duration_seconds", "stage")].filter(([name, one]) => one.sum > 0 && name !== "total");
    const parts = [
      h("h2", {}, "The server"),
      h(
        "ul",
        { class: "figures" },
        [
          [bytes(value("braid_store_bytes")), "on disk"],
          [bytes(value("process_resident_memory_bytes")), "in memory"],
          [number(value("braid_transport_requests_total")), "requests"],
          [number(value("braid_connections")), "open connections"],
          [number(value("braid_compactions_total")), "compactions"],
          [number(value("braid_collections_refusing_writes")), "refusing writes"],
        ].map(([much, what]) => h("li", {}, h("b", {}, much), what)),
      ),
      ...(stages.length ? [h("h3", {}, "Stages of a search"), h("div", { class: "histograms" }, stages.map(([name, one]) => histogram(name, one, name === "sparse" ? "sparse" : name === "dense" || name === "embed" ? "dense" : "other")))] : []),
      h("h3", {}, "Requests, those that took most time first"),
      h("div", { class: "histograms" }, routes.slice(0, 9).map(([name, one]) => histogram(name, one, "other"))),
    ];
    this.server.replaceChildren(...parts);
  }

  drop() {
    if (!this.world.mayWrite() && !this.world.collections.some((one) => this.world.mayWrite(one.name))) return null;
    this.options = h("datalist", { id: "collection-names" });
    const name = h("input", { type: "text", id: "into", value: "default", list: "collection-names", title: "Letters, digits, - and _; 100 at most", pattern: "[A-Za-z0-9_\\-]{1,100}", required: true });
    const files = h("input", { type: "file", id: "files", "aria-label": "Files to take in", tabindex: -1, multiple: true, class: "unseen", onchange: () => take([...files.files].map((file) => ({ file, name: file.name }))) });
    const done = h("ul", { class: "progress" });
    const take = async (list) => {
      if (!name.reportValidity()) return;
      const collection = name.value.trim();
      const rows = list.map((one) => {
        const bar = h("progress", { max: 1, value: 0, "aria-label": one.name });
        const told = h("span", { class: "origin" }, "waiting");
        return { one, bar, told, element: h("li", {}, h("b", {}, one.name), bar, told) };
      });
      done.prepend(...rows.map((row) => row.element));
      for (const { one, bar, told, element } of rows) {
        try {
          told.textContent = "reading, cutting, embedding …";
          bar.removeAttribute("value");
          const { chunks, failed } = await ingest(one, collection, (share) => (bar.value = share));
          bar.value = 1;
          told.textContent = `${counted(chunks, "chunk")}${failed.length ? `; ${counted(failed.length, "line")} failed: ${failed[0]}` : ""}`;
          element.className = failed.length ? "partly" : "done";
          say(`${one.name}: ${told.textContent}`);
        } catch (error) {
          bar.value = 0;
          told.textContent = error.message;
          element.className = "failed";
          say(`${one.name} failed: ${error.message}`);
        }
      }
      files.value = "";
      this.show();
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
      h("p", {}, "Texts, Markdown, HTML, PDF, office documents, mail, code, JSON lines with a chunk each. A file takes the place of the one of its name."),
      h("div", { class: "row" }, h("div", { class: "field" }, h("label", { for: "into" }, "Into the collection"), name, this.options), h("button", { onclick: () => files.click() }, icon(ICONS.file), "Choose files"), files),
      done,
    );
    return zone;
  }
}
