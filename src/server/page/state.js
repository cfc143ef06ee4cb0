// What is searched for and how. It stands in the address behind "#", so that an address can be
// shared; what stands there is never sent to the server, nor written to its log.
import { short } from "./dom.js";
import { parse, print } from "./json.js";

export const DEFAULTS = {
  q: "",
  c: [], // collections; none: the first there is
  ns: "",
  strategy: "hybrid",
  fusion: "", // "": the profile's
  k: null, // of rrf
  weight: null, // of dense; null: the profile's
  depth: null, // candidates per leg; null: the profile's
  top: 10,
  threshold: null,
  syntax: false, // the words are in the query language
  typos: "", // "off": words that no chunk has are not corrected
  filter: new Map(), // field: [values]; a field may have any name, "__proto__" too
};

const LISTS = new Set(["c"]);
const NUMBERS = new Set(["k", "weight", "depth", "top", "threshold"]);
const STRATEGIES = ["hybrid", "dense", "sparse", "multi_hop"];
export const METHODS = ["", "rrf", "weighted_sum", "dbsf", "auto"];

export const fresh = () => structuredClone(DEFAULTS);

// Alone, these would be operators of filters.
const fieldNamed = (name) => (name.startsWith("$") || name === "" ? `metadata.${name}` : name);

function readInto(settings, name, text) {
  if (name.startsWith("f.")) {
    try {
      const values = parse(text);
      if (Array.isArray(values) && values.length) settings.filter.set(fieldNamed(name.slice(2)), values);
    } catch {
      // Not one of our addresses; the rest may still do.
    }
  } else if (LISTS.has(name)) {
    settings[name] = text.split(",").filter(Boolean);
  } else if (NUMBERS.has(name)) {
    const value = Number(text);
    if (Number.isFinite(value)) settings[name] = value;
  } else if (name === "syntax") {
    settings.syntax = text === "true";
  } else if (Object.hasOwn(DEFAULTS, name) && name !== "filter") {
    settings[name] = text;
  }
}

function repaired(settings) {
  if (!STRATEGIES.includes(settings.strategy)) settings.strategy = "hybrid";
  if (settings.typos !== "off") settings.typos = "";
  if (!METHODS.includes(settings.fusion)) settings.fusion = "";
  settings.top = Math.min(1000, Math.max(1, Math.round(settings.top ?? 10)));
  if (settings.weight !== null) settings.weight = Math.min(1, Math.max(0, settings.weight));
  if (settings.depth !== null) settings.depth = Math.min(10_000, Math.max(1, Math.round(settings.depth)));
  return settings;
}

// Both configurations; `b` is null unless two are compared.
export function readAddress(hash) {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const a = fresh();
  const b = fresh();
  let compared = false;
  for (const [name, text] of parameters) {
    if (name === "vs") compared = true;
    else if (name.startsWith("b.")) readInto(b, name.slice(2), text);
    else readInto(a, name, text);
  }
  return { a: repaired(a), b: compared ? repaired({ ...b, q: a.q }) : null };
}

function write(parameters, prefix, settings) {
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    const value = settings[name];
    if (name === "filter") {
      for (const [field, values] of value) {
        if (values.length) parameters.set(`${prefix}f.${field}`, print(values));
      }
    } else if (name === "q" && prefix) {
      continue;
    } else if (LISTS.has(name)) {
      if (value.length) parameters.set(prefix + name, value.join(","));
    } else if (value !== usual && value !== null) {
      parameters.set(prefix + name, value);
    }
  }
}

export function address(a, b) {
  const parameters = new URLSearchParams();
  write(parameters, "", a);
  if (b) {
    parameters.set("vs", "");
    write(parameters, "b.", b);
  }
  const text = parameters.toString().replaceAll("%2C", ",").replace(/(^|&)vs=(?=&|$)/, "$1vs");
  return text ? `#${text}` : "#";
}

// Weights have a say only where two legs are fused by a method that takes them.
export const takesWeight = (settings) =>
  settings.strategy === "hybrid" && settings.fusion !== "dbsf" && settings.fusion !== "auto";

// The constant of reciprocal ranks, where these are what is fused.
export const takesK = (settings) => settings.strategy === "hybrid" && (settings.fusion === "" || settings.fusion === "rrf");

// What reads the words of a query has a say only where there is a sparse leg.
export const takesWords = (settings) => settings.strategy === "hybrid" || settings.strategy === "sparse";

export function filterOf(settings) {
  return Object.fromEntries([...settings.filter].map(([field, values]) => [field, values.length === 1 ? values[0] : { $in: values }]));
}

// From one value to another: {$gte, $lte}, either of them or both.
export const isRange = (value) => typeof value === "object" && value !== null;

export function valueText(value) {
  if (!isRange(value)) return String(value);
  const { $gte, $lte } = value;
  const day = (one) => String(one).replace(/T23:59:59\.999Z$/, "");
  if ($gte === undefined && $lte === undefined) return print(value);
  return [$gte === undefined ? "" : $lte === undefined ? `from ${day($gte)}` : day($gte), $lte === undefined ? "" : `to ${day($lte)}`].filter(Boolean).join(" ");
}

// The request, with nothing in it that was not chosen.
export function requestOf(settings, collections) {
  const request = { query: settings.q };
  if (collections.length > 1) request.collections = collections;
  else if (collections.length === 1) request.collection = collections[0];
  if (settings.ns) request.namespace = settings.ns;
  if (settings.strategy !== "hybrid") request.strategy = settings.strategy;
  if (takesK(settings) && settings.k !== null) request.fusion = { method: "rrf", k: settings.k };
  else if (settings.strategy === "hybrid" && settings.fusion) request.fusion = settings.fusion;
  if (settings.weight !== null && takesWeight(settings)) request.dense_weight = settings.weight;
  if (settings.depth !== null) {
    if (settings.strategy !== "sparse") request.dense_top_k = settings.depth;
    if (takesWords(settings)) request.sparse_top_k = settings.depth;
  }
  if (settings.syntax && takesWords(settings)) request.query_syntax = true;
  if (settings.typos && takesWords(settings)) request.typos = settings.typos;
  request.top_k = settings.top;
  if (settings.threshold !== null) request.score_threshold = settings.threshold;
  const filter = filterOf(settings);
  if (Object.keys(filter).length) request.filter = filter;
  return request;
}

// A configuration in a few words, to tell two apart.
export function inWords(settings, collections) {
  const { strategy, fusion, k, weight, depth, threshold, syntax, typos, filter, ns } = settings;
  return [
    collections.join(" + ") + (ns ? `/${ns}` : ""),
    strategy === "multi_hop" ? "multi-hop" : strategy,
    strategy === "hybrid" ? fusion : "",
    strategy === "hybrid" && k !== null && takesK(settings) ? `k ${k}` : "",
    weight !== null && takesWeight(settings) ? `dense ${weight.toFixed(2)}` : "",
    depth !== null ? `${depth} deep` : "",
    threshold !== null ? `score ≥ ${threshold}` : "",
    syntax && takesWords(settings) ? "query language" : "",
    typos && takesWords(settings) ? "words as typed" : "",
    ...[...filter].map(([field, values]) => short(`${field} ${values.map(valueText).join(" or ")}`)),
  ].filter(Boolean).join(" · ");
}
