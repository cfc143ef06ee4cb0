// What opens over the search: "why is it not here?", the search as a command, the keys.
import { collectionPath, get, hasKey, post } from "./api.js";
import { copy, debounced, dialog, h, number, score, sentence } from "./dom.js";
import { print } from "./json.js";
import { legOf } from "./receipt.js";
import { fresh, requestOf } from "./state.js";

// For a shell; what comes from an address may hold anything.
const quoted = (text) => (/^[\w.:/-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", "'\\''")}'`);

// The key itself is not copied: it would end up in histories and chats.
function asCurl(request) {
  return [
    `curl ${location.origin}/v1/retrieve`,
    "-H 'Content-Type: application/json'",
    ...(hasKey() ? ['-H "Authorization: Bearer $BRAID_API_KEY"'] : []),
    `-d ${quoted(print(request))}`,
  ].join(" \\\n  ");
}

const pythonValue = (value) =>
  value === true ? "True" : value === false ? "False" : value === null ? "None"
    : Array.isArray(value) ? `[${value.map(pythonValue).join(", ")}]`
    : typeof value === "object" ? `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${pythonValue(one)}`).join(", ")}}`
    : print(value);

function asPython(request) {
  const { query, collection, ...rest } = request;
  const words = [JSON.stringify(query), ...Object.entries(rest).map(([key, value]) => `${key}=${pythonValue(value)}`)];
  return [
    hasKey() ? "import os\n\nimport braid" : "import braid",
    "",
    `db = braid.connect(${JSON.stringify(location.origin)}${hasKey() ? ', key=os.environ["BRAID_API_KEY"]' : ""})`,
    `answer = db${collection ? `[${JSON.stringify(collection)}]` : ""}.retrieve(`,
    ...words.map((word) => `    ${word},`),
    ")",
    "for hit in answer:",
    "    print(hit.rank, hit.score, hit.chunk_id)",
  ].join("\n");
}

function asCommand(request) {
  const { query, collections, collection, fusion, ...rest } = request;
  const words = ["braid retrieve"];
  for (const name of collections ?? [collection]) if (name) words.push(`--collection ${quoted(name)}`);
  for (const [key, value] of Object.entries({ ...(fusion ? { fusion } : {}), ...rest })) {
    const flag = `--${key.replaceAll("_", "-")}`;
    words.push(value === true ? flag : `${flag} ${quoted(typeof value === "object" ? print(value) : String(value))}`);
  }
  return [...words, `-- ${quoted(query)}`].join(" \\\n  ");
}

export const FORMS = { curl: asCurl, Python: asPython, "Command line": asCommand };
const HINTS = { "Command line": "Run it on the server’s machine; add --data if the database is not in the default place." };

// `side`: "left" or "right" where two configurations are compared.
export function showCopy(settings, collections, side) {
  const request = requestOf(settings, collections);
  return dialog(
    `Use ${side ? `the search on the ${side}` : "this search"} elsewhere`,
    "middle",
    Object.entries(FORMS).map(([name, write]) => {
      const text = write(request);
      const button = h("button", { onclick: () => copy(text, button), "aria-label": `Copy as ${name}` }, "Copy");
      return h("section", { class: "form" }, h("header", {}, h("h3", {}, name), button), h("pre", { tabindex: 0, "aria-label": name }, text), HINTS[name] ? h("p", { class: "origin" }, HINTS[name]) : null);
    }),
  );
}

const KEYS = [
  ["/", "go to the search box"],
  ["↓ ↑", "move from hit to hit"],
  ["Enter", "open or close a hit’s receipt"],
  ["d", "show its document"],
  ["n", "show its neighbours"],
  ["Esc", "go back to the search box"],
  ["?", "show this list"],
];

export const showKeys = () =>
  dialog("Keys", "middle", h("dl", { class: "keys" }, KEYS.map(([key, what]) => [h("dt", {}, key.split(" ").map((one) => h("kbd", {}, one))), h("dd", {}, what)])));

function standing(leg) {
  const found = leg.rank !== null;
  return h(
    "tr",
    { class: legOf(leg.source) },
    h("th", { scope: "row" }, h("span", { class: "dot" }), leg.source),
    h("td", {}, found ? `rank ${number(leg.rank)}` : "not found"),
    h("td", {}, leg.score === null ? "no vector" : `score ${score(leg.score)}`),
    h("td", {}, `depth ${number(leg.depth)}`),
  );
}

// Where a chunk was lost, for people.
const LOST = {
  filter: "the filter",
  not_reached: "the legs, which do not find it",
  depth: "the depth of the legs",
  fused_out: "the fusion",
  deduplicated: "near-identical passages, of which one is shown",
  threshold: "the minimum score",
  stage: "a stage",
  cut: "the number of hits",
};

const noFilter = (value) => value === null || Object.keys(value).length === 0;

// The change in the words of the controls, where it has one.
function changed({ key, value }) {
  switch (key) {
    case "top_k":
      return `${number(value)} hits per page`;
    case "dense_top_k":
    case "sparse_top_k":
      return `a depth of ${number(value)}`;
    case "score_threshold":
      return `a minimum score of ${value}`;
    case "strategy":
      return `the strategy ${value}`;
    default:
      return key === "filter" && noFilter(value) ? "no filters" : h("code", {}, `${key} = ${print(value)}`);
  }
}

// How the controls make that change; null if there is none for it.
function applicable({ key, value }) {
  switch (key) {
    case "top_k":
      return value <= 1000 ? (now) => (now.top = value) : null;
    case "dense_top_k":
    case "sparse_top_k":
      return (now) => (now.depth = value);
    case "score_threshold":
      return (now) => (now.threshold = value);
    case "filter":
      return noFilter(value) ? (now) => (now.filter = new Map()) : null;
    case "strategy":
      return (now) => (now.strategy = value);
    default:
      return null;
  }
}

// `change(update)` as the controls have it.
export function showWhyNot(settings, collections, side, change) {
  const list = h("datalist", { id: "chunk-ids" });
  const input = h("input", { type: "text", id: "why-id", list: "chunk-ids", autocomplete: "off", spellcheck: "false", required: true });
  const place = h("select", { id: "why-collection" }, collections.map((name) => h("option", { value: name }, name)));
  const out = h("div", { class: "why", "aria-live": "polite" });
  const where = settings.ns ? `&namespace=${encodeURIComponent(settings.ns)}` : "";
  // Ids that follow what is typed, and chunks with its words.
  const complete = debounced(80, async () => {
    const text = input.value.trim();
    try {
      const [{ chunks: next }, { chunks: found }] = await Promise.all([
        get(`${collectionPath(place.value)}/chunks?limit=12&after=${encodeURIComponent(text)}${where}`),
        text ? post("/v1/retrieve", requestOf({ ...fresh(), q: text, ns: settings.ns, strategy: "sparse" }, [place.value])) : { chunks: [] },
      ]);
      input.placeholder ||= next[0]?.chunk_id ?? "";
      const chunks = new Map([...found, ...next].map((chunk) => [chunk.chunk_id, [chunk.title, chunk.section_title].filter(Boolean).join(" › ")]));
      list.replaceChildren(...[...chunks].map(([id, name]) => h("option", { value: id }, name)));
    } catch {
      // The list only helps.
    }
  });
  input.addEventListener("input", complete);
  const ask = async (event) => {
    event.preventDefault();
    out.replaceChildren(h("p", { class: "wait" }, "Checking …"));
    // An id that several collections hold is looked for in the first of them.
    const first = [place.value, ...collections.filter((name) => name !== place.value)];
    try {
      const why = await post("/v1/why_not", { ...requestOf(settings, first), chunk_id: input.value.trim() });
      const { explanation } = why;
      const apply = why.change && applicable(why.change);
      out.replaceChildren(
        ...[
          h("p", { class: "reason" }, explanation.shown && explanation.hit ? `It is here, at rank ${explanation.hit.rank}.` : sentence(why.reason)),
          why.lost_at ? h("p", { class: "origin" }, `Lost at: ${LOST[why.lost_at] ?? why.lost_at}`) : null,
          explanation.legs.length ? h("div", { class: "arithmetic" }, h("table", {}, h("tbody", {}, explanation.legs.map(standing)))) : null,
          why.change
            ? h("p", { class: "change" }, "It would appear with ", changed(why.change), ". ",
                apply ? h("button", { onclick: () => { box.close(); change(apply); } }, "Apply") : null)
            : null,
        ].filter(Boolean),
      );
    } catch (error) {
      out.replaceChildren(h("p", { class: "state error" }, error.message));
    }
  };
  const box = dialog(
    `Why is it not ${side ? `on the ${side}` : "here"}?`,
    "middle",
    h(
      "form",
      { class: "row", onsubmit: ask },
      h("div", { class: "field grow" }, h("label", { for: "why-id" }, "Chunk: its id, or words of its title"), input),
      collections.length > 1 ? h("div", { class: "field" }, h("label", { for: "why-collection" }, "Collection"), place) : null,
      h("button", { class: "primary" }, "Ask"),
    ),
    list,
    out,
  );
  complete();
  input.focus();
  return box;
}
