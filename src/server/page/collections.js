// What there is: collections and their sizes, how fast the server answers, and a place to drop files.
import { collectionPath, get, send } from "./api.js";
import { bytes, counted, FEW, finder, h, number, sentence } from "./dom.js";
import { dropZone } from "./drop.js";
import { bars, histogram, histograms, parts, readMetrics, segments } from "./plots.js";

const SHOWN = 20; // namespaces of a collection

const someOf = (names) => names.slice(0, SHOWN).join(", ") + (names.length > SHOWN ? ` and ${number(names.length - SHOWN)} more` : "");

export class CollectionsPage {
  constructor(world) {
    this.world = world;
    document.title = "Collections · braid";
    this.list = h("div", { class: "cards" });
    this.found = "";
    this.limit = FEW;
    this.finder = finder("collection", (text) => {
      this.found = text;
      this.showCards();
    });
    this.more = h("button", { class: "quiet", onclick: () => {
      this.limit += 4 * FEW;
      this.showCards();
    } });
    this.server = h("section", { class: "server" });
    const zone = dropZone(world, () => this.show());
    this.element = h(
      "div",
      { class: "plain" },
      h("h1", {}, "Collections"),
      this.finder,
      this.list,
      this.more,
      ...(zone ? [zone] : []),
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
    this.showCards();
    this.measure();
  }

  showCards() {
    const all = this.world.collections;
    const found = all.filter((one) => one.name.toLowerCase().includes(this.found));
    const most = Math.max(...all.map((one) => one.chunks));
    const none = all.length ? `No collection has “${this.found}” in its name.` : this.world.mayWrite() ? "No collections yet. Drop a file below to create one." : "This key may read no collection here.";
    this.list.replaceChildren(...(found.length ? found.slice(0, this.limit).map((one) => this.card(one, most)) : [h("p", { class: "state" }, none)]));
    this.finder.hidden = all.length <= FEW;
    this.more.hidden = found.length <= this.limit;
    this.more.textContent = counted(found.length - this.limit, "more collection");
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
        h("dt", {}, "vectors"), h("dd", {}, schema.embedder === "none" ? "none (words only)" : `${schema.embedder}, ${schema.dimension} × ${schema.metric}`),
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
          h("p", { class: "origin" }, `${counted(sum("terms"), "distinct word")}, ${words.toFixed(1)} words per chunk${collection.namespaces.length > SHOWN ? `, in the first ${SHOWN} namespaces` : ""}`),
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
      this.server.replaceChildren(...(error.status === 403 ? [h("p", { class: "none" }, "Only keys that see everything can see latencies.")] : []));
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
      h("h3", {}, "Requests, largest total time first"),
      h("div", { class: "histograms" }, routes.slice(0, 12).map(([name, one]) => histogram(name === "none" ? "no such route" : name, one, "other"))),
    ];
    this.server.replaceChildren(...parts);
  }
}
