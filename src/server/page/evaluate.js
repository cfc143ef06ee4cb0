// Judged queries in, measures out: several ways of searching side by side, with their intervals.
import { collectionPath, post } from "./api.js";
import { counted, duration, h, number, say } from "./dom.js";
import { parse } from "./json.js";
import { bar, interval } from "./plots.js";
import { address, requestOf, fresh } from "./state.js";

const WAYS = [
  ["hybrid", {}, "both"],
  ["dense", { strategy: "dense" }, "dense"],
  ["sparse", { strategy: "sparse" }, "sparse"],
  ["weighted_sum", { fusion: "weighted_sum" }, "both"],
  ["dbsf", { fusion: "dbsf" }, "both"],
  ["auto", { fusion: "auto" }, "both"],
];
const MEASURES = ["nDCG@10", "RR@10", "R@100"];
const MOST = 1000; // queries the server takes at once
const FIRST = 10; // queries of a report that are shown one by one

const LISTED = 10_000; // values the server takes in one list of a filter

// A PDF or a table of an office program is no text, though lines can be made of it.
async function textOf(file, what) {
  const content = await file.arrayBuffer();
  let text = "\0";
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    // No UTF-8.
  }
  if (text.includes("\0") || text.startsWith("%PDF-")) throw new Error(`“${file.name}” is no file of ${what}: it is not plain text in UTF-8.`);
  return text;
}

// Whether any of these documents is in the collection.
async function anyOf(documents, collection, namespace) {
  for (let at = 0; at < documents.length; at += LISTED) {
    const filter = { document_id: { $in: documents.slice(at, at + LISTED) } };
    const { count } = await post(`${collectionPath(collection)}/count`, namespace ? { namespace, filter } : { filter });
    if (count > 0) return true;
  }
  return documents.length === 0;
}

// Lines of JSON (`_id` and `text`) or of id, tab, text.
export function readQueries(text) {
  const queries = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (!line.trim()) continue;
    if (line.trimStart().startsWith("{")) {
      let one;
      try {
        one = parse(line);
      } catch (error) {
        throw new Error(`Line ${i + 1} of the queries is not JSON: ${error.message}.`);
      }
      const [id, words] = [one._id ?? one.id, one.text ?? one.query];
      if (id === undefined || typeof words !== "string") throw new Error(`Line ${i + 1} of the queries has no “_id”, or no “text”.`);
      queries.push({ id: String(id), text: words });
    } else {
      const [id, ...rest] = line.split("\t");
      if (rest.length) queries.push({ id, text: rest.join("\t") });
    }
  }
  if (queries.length === 0) throw new Error("No queries found. Use JSON Lines with “_id” and “text”, or an id, a tab and a text per line.");
  return queries;
}

// TREC (query 0 document relevance) or BEIR (query, document, relevance, with a first line of names).
export function readQrels(text) {
  const qrels = Object.create(null); // an id may be any word
  let count = 0;
  for (const line of text.split("\n")) {
    const parts = line.trim().split(/\s+/);
    if (parts.length < 3) continue;
    const [query, document, relevance] = parts.length >= 4 ? [parts[0], parts[2], parts[3]] : parts;
    if (!/^-?\d+$/.test(relevance)) continue;
    (qrels[query] ??= Object.create(null))[document] = Number(relevance);
    ++count;
  }
  if (count === 0) throw new Error("No judgements found. Use lines of query, document and relevance (BEIR), or query, 0, document and relevance (TREC).");
  return qrels;
}

export class EvaluatePage {
  constructor(world) {
    this.world = world;
    document.title = "Evaluate · braid";
    const usual = world.collections[0]?.name ?? "default";
    this.collection = h("select", { id: "eval-collection", onchange: () => this.chosen() }, world.collections.map((one) => h("option", { value: one.name, selected: one.name === usual }, one.name)));
    this.namespace = h("select", { id: "eval-namespace" });
    this.namespaces = h("div", { class: "field" }, h("label", { for: "eval-namespace" }, "Namespace"), this.namespace);
    this.queries = h("input", { type: "file", id: "eval-queries", accept: ".jsonl,.tsv,.txt" });
    this.qrels = h("input", { type: "file", id: "eval-qrels", accept: ".tsv,.qrels,.txt,.trec" });
    this.ways = WAYS.map(([name, , leg], i) => ({ name, input: h("input", { type: "checkbox", checked: i < 3 }), leg }));
    this.out = h("div", { class: "report" });
    this.button = h("button", { class: "primary" }, "Measure");
    this.element = h(
      "div",
      { class: "plain" },
      h("h1", {}, "Evaluate"),
      h("p", { class: "lead" }, "Give queries and their relevant documents, and braid measures how well each way of searching finds them. Nothing leaves this server."),
      world.collections.length === 0 ? h("p", { class: "state" }, "There is no collection to measure yet.") : h(
        "form",
        { class: "drop", onsubmit: (event) => { event.preventDefault(); this.measure(); } },
        h("div", { class: "row" },
          h("div", { class: "field" }, h("label", { for: "eval-collection" }, "Collection"), this.collection),
          this.namespaces,
          h("div", { class: "field" }, h("label", { for: "eval-queries" }, "Queries (JSON lines, or tab-separated)"), this.queries),
          h("div", { class: "field" }, h("label", { for: "eval-qrels" }, "Judgements (TREC or BEIR)"), this.qrels)),
        h("fieldset", { class: "ways" }, h("legend", {}, "Ways of searching"), this.ways.map(({ name, input, leg }) => h("label", { class: leg }, input, h("span", {}, name)))),
        h("div", {}, this.button),
      ),
      this.out,
    );
    this.chosen();
  }

  // Namespaces, where there are others than "default".
  chosen() {
    const names = this.world.collections.find((one) => one.name === this.collection.value)?.namespaces ?? [];
    this.namespace.replaceChildren(...names.map((name) => h("option", { value: name === "default" ? "" : name }, name)));
    this.namespaces.hidden = names.every((name) => name === "default");
  }

  settings(way) {
    return Object.assign(fresh(), WAYS.find(([name]) => name === way)[1], { c: [this.collection.value], ns: this.namespace.value });
  }

  async measure() {
    const pressed = document.activeElement === this.button;
    this.button.disabled = true;
    const rows = [];
    const place = [this.collection.value, this.namespace.value];
    let asked = 0; // queries
    try {
      if (!this.queries.files[0] || !this.qrels.files[0]) throw new Error("Choose a file of queries and a file of judgements.");
      if (!this.ways.some((way) => way.input.checked)) throw new Error("Choose a way of searching.");
      const qrels = readQrels(await textOf(this.qrels.files[0], "judgements"));
      const queries = readQueries(await textOf(this.queries.files[0], "queries")).filter((one) => one.id in qrels);
      if (queries.length === 0) throw new Error("None of the queries has a judgement.");
      if (queries.length > MOST) throw new Error(`${number(queries.length)} queries have judgements; the server measures at most ${number(MOST)} at once. “braid eval” takes more.`);
      asked = queries.length;
      const judged = Object.fromEntries(queries.map((one) => [one.id, qrels[one.id]]));
      for (const { name, input, leg } of this.ways) {
        if (!input.checked) continue;
        const told = `Measuring ${name} on ${counted(queries.length, "query", "queries")} …`;
        this.out.replaceChildren(...this.report(rows, queries.length), h("p", { class: "wait" }, told));
        say(told);
        const settings = this.settings(name);
        const { query, top_k, ...request } = requestOf(settings, settings.c);
        const answer = await post("/v1/eval", { queries, qrels: judged, measures: MEASURES, per_query: true, request });
        const values = new Map(answer.per_query.map((one) => [one.query, one.values[MEASURES[0]][0]]));
        rows.push({ name, leg, settings, run: answer.runs[0], timings: answer.timings, values });
        if (rows.length > 1 || Object.values(rows[0].run.measures).some((value) => value > 0)) continue;
        const documents = [...new Set(Object.values(judged).flatMap(Object.keys))];
        if (!(await anyOf(documents, ...place))) throw new Error(`None of the judged documents (${number(documents.length)}) is in “${place.filter(Boolean).join("/")}”. Judgements name documents by their ids; the first here is “${documents[0]}”.`);
      }
      this.out.replaceChildren(...this.report(rows, queries.length), ...this.oneByOne(rows, queries));
      say(`Measured: ${rows.map((row) => `${row.name} ${row.run.measures[MEASURES[0]].toFixed(3)}`).join(", ")}`);
    } catch (error) {
      this.out.replaceChildren(...this.report(rows, asked), h("p", { class: "state error", role: "alert" }, error.message));
    }
    this.button.disabled = false;
    if (pressed) this.button.focus({ preventScroll: true }); // a button that is off loses it
  }

  // Query by query: first where the ways differ most, then where all do badly. Each leads to its
  // search; where ways differ, to the best one beside the worst.
  oneByOne(rows, queries) {
    const lines = queries.map(({ id, text }) => {
      const values = rows.map((row) => row.values.get(id));
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const [best, worst] = [high, low].map((value) => ({ ...rows[values.indexOf(value)].settings, q: text }));
      return { text, values, low, spread: high - low, link: `/${address(best, high > low ? worst : null)}` };
    });
    lines.sort((a, b) => b.spread - a.spread || a.low - b.low);
    const cell = (value, { leg }) => h("td", {}, value.toFixed(3), bar(value, leg));
    const body = h("tbody", {});
    const more = h("button", { class: "quiet", hidden: lines.length <= FIRST, onclick: () => show(lines.length) }, `All ${counted(lines.length, "query", "queries")}`);
    const show = (count) => {
      body.replaceChildren(...lines.slice(0, count).map((line) => h("tr", {}, h("th", { scope: "row" }, h("a", { href: line.link }, h("bdi", {}, line.text))), line.values.map((value, i) => cell(value, rows[i])))));
      more.hidden = count >= lines.length;
    };
    show(FIRST);
    return [
      h("h2", {}, "Query by query"),
      h("p", { class: "origin" }, `${MEASURES[0]} of each query, ${rows.length > 1 ? "those first where the ways differ most; a query leads to its search by the best way beside the worst" : "the worst first; a query leads to its search"}.`),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Query by query" },
        h("table", { class: "queries" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "query"), rows.map((row) => h("th", { scope: "col", class: row.leg }, h("span", { class: "dot" }), row.name)))), body),
      ),
      h("div", {}, more),
    ];
  }

  // What searches said, on request: there may be much.
  warnings(rows) {
    const lines = rows.flatMap(({ name, timings }) => Object.entries(timings.warnings).map(([text, count]) => h("li", {}, `${name}, ${counted(count, "query", "queries")}: ${text}`)));
    return lines.length ? [h("details", { class: "inner origin" }, h("summary", {}, counted(lines.length, "remark")), h("ul", {}, lines))] : [];
  }

  report(rows, queries) {
    if (rows.length === 0) return [];
    const best = (measure) => Math.max(...rows.map((row) => row.run.measures[measure]));
    return [
      h("h2", {}, `${[...rows[0].settings.c, rows[0].settings.ns].filter(Boolean).join("/")}, ${counted(queries, "query", "queries")}`),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Measures" },
        h(
          "table",
          { class: "measures" },
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "way"), MEASURES.map((name) => h("th", { scope: "col" }, name)), h("th", { scope: "col" }, "time per query"))),
          h("tbody", {}, rows.map((row) =>
            h("tr", { class: row.leg }, h("th", { scope: "row" }, h("span", { class: "dot" }), row.name),
              MEASURES.map((name) => h("td", {}, h(row.run.measures[name] === best(name) ? "b" : "span", {}, row.run.measures[name].toFixed(3)), interval(row.run.measures[name], row.run.intervals[name], row.leg), h("small", {}, `${row.run.intervals[name][0].toFixed(3)} – ${row.run.intervals[name][1].toFixed(3)}`))),
              h("td", {}, duration((1000 * row.timings.seconds) / row.timings.queries))))),
        ),
      ),
      ...rows.filter((row) => row.timings.incomplete).map(({ name, timings }) => h("p", { class: "note warning" }, `${name}: ${number(timings.incomplete)} of ${number(timings.queries)} searches did not run whole.`)),
      ...this.warnings(rows),
      h("p", { class: "origin" }, "Intervals: 95 %, by resampling the queries 1,000 times. The best of each column is bold; overlapping intervals are no proof of a difference."),
    ];
  }
}
