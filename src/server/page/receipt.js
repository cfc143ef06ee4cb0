// A hit's receipt: as a picture, strands that flow together, and as the arithmetic, line by line.
import { h, s, score } from "./dom.js";
import { inWords, prove } from "./proof.js";

const WIDTH = 150;
const HEIGHT = 44;
const THICKEST = 15;

// "dense" and "sparse" have their colours everywhere; other sources are neutral.
export const legOf = (source) => (source.includes("dense") ? "dense" : source.includes("sparse") ? "sparse" : "other");

// The legs behind a receipt, with their parts of the score: a collection's part is shared out among
// the legs of its own receipt.
export function strandsOf(receipt) {
  const strands = [];
  const add = (one, factor, collection) => {
    const whole = one.sources.reduce((sum, source) => sum + Math.abs(source.contribution), 0);
    for (const source of one.sources) {
      const share = whole > 0 ? (Math.abs(source.contribution) / whole) * factor : factor / one.sources.length;
      if (source.receipt) add(source.receipt, share, source.source);
      else strands.push({ name: source.source, leg: legOf(source.source), rank: source.rank, filled: source.filled, share, collection });
    }
  };
  add(receipt, 1, null);
  return strands;
}

const percent = (share) => `${Math.round(share * 100)} %`;

export function spokenReceipt(receipt) {
  const strands = strandsOf(receipt).map(
    (strand) =>
      `${strand.collection ? `${strand.collection} ` : ""}${strand.name} ${strand.rank !== undefined ? `rank ${strand.rank}` : "not found"}, ${percent(strand.share)}`,
  );
  const stages = receipt.stages.map((stage) => `then ${stage.stage}`);
  return [...strands, ...stages, `score ${score(receipt.score)}`].join("; ");
}

// A ribbon of changing thickness from (x0, y0) to (x1, y1).
function ribbon(x0, y0, t0, x1, y1, t1) {
  const mid = (x0 + x1) / 2;
  return (
    `M${x0} ${y0 - t0 / 2}C${mid} ${y0 - t0 / 2} ${mid} ${y1 - t1 / 2} ${x1} ${y1 - t1 / 2}` +
    `L${x1} ${y1 + t1 / 2}C${mid} ${y1 + t1 / 2} ${mid} ${y0 + t0 / 2} ${x0} ${y0 + t0 / 2}Z`
  );
}

const BEGIN = 40;
const JOIN = 96;
const KNOT = 116; // where stages change the score
const END = 148;

// Strands come in at the left with their ranks, as thick as their parts of the score, and leave at
// the right as one; a stage is a knot, after which the strand may be thicker or thinner. `best` is
// the largest score of the answer: thickness compares hits.
export function picture(receipt, best) {
  const strands = strandsOf(receipt);
  if (strands.length === 0) return s("svg", { class: "picture", viewBox: `0 0 ${WIDTH} ${HEIGHT}` });
  const size = (value) => Math.max(2, (Math.abs(value) / (Math.abs(best) || 1)) * THICKEST);
  const fused = Math.min(THICKEST + 3, size(receipt.fused));
  const final = Math.min(THICKEST + 3, size(receipt.score));
  const middle = HEIGHT / 2;
  const rows = strands.length === 1 ? [middle] : strands.map((_, i) => 9 + (i * (HEIGHT - 18)) / (strands.length - 1));
  const parts = [];
  let before = 0; // the parts of the strands above
  strands.forEach((strand, i) => {
    const thickness = Math.max(1.2, strand.share * fused);
    const lane = (whole) => middle + (before + strand.share / 2 - 0.5) * whole;
    const after = receipt.stages.length ? final : fused;
    const way = [
      ribbon(BEGIN, rows[i], thickness, JOIN, lane(fused), thickness),
      ribbon(JOIN, lane(fused), thickness, KNOT, lane(fused), thickness),
      ribbon(KNOT, lane(fused), thickness, END, lane(after), Math.max(1.2, strand.share * after)),
    ];
    before += strand.share;
    parts.push(
      s("path", { class: `strand ${strand.leg}`, d: way.join("") }),
      strands.length <= 4 &&
        s("text", { class: `rank ${strand.leg}`, x: BEGIN - 6, y: rows[i] + 4, "text-anchor": "end" }, strand.rank !== undefined ? `#${strand.rank}` : "+"),
    );
  });
  if (receipt.stages.length) parts.push(s("circle", { class: "knot", cx: KNOT, cy: middle, r: Math.max(4, fused / 2 + 1.5) }));
  return s("svg", { class: "picture", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" }, parts);
}

// How one source's contribution comes about, in the method's own words.
function formula(source, fusion) {
  const rounded = (value) => score(value);
  if (fusion.method === "rrf" && source.rank !== undefined && !fusion.preset) {
    return `${rounded(source.weight)} ÷ (${fusion.k} + ${source.rank})`;
  }
  if (source.normalized !== undefined) {
    const list = fusion.lists?.[source.source];
    const how =
      list?.max !== undefined
        ? `(${rounded(source.score)} − ${rounded(list.min)}) ÷ (${rounded(list.max)} − ${rounded(list.min)})`
        : list?.mean !== undefined
          ? `σ((${rounded(source.score)} − ${rounded(list.mean)}) ÷ ${rounded(list.std)})`
          : `${rounded(source.score)} → ${rounded(source.normalized)}`;
    return fusion.method === "dbsf" ? how : `${rounded(source.weight)} × ${how}`;
  }
  return source.weight === 1 ? rounded(source.score) : `${rounded(source.weight)} × ${rounded(source.score)}`;
}

const SIGNS = { multiply: "×", divide: "÷", add: "+", replace: "→", keep: "≥" };

// `depth`: of a receipt within another, whose sum is the score of the line above.
function lines(receipt, depth = 0) {
  const within = depth ? " within" : "";
  const rows = receipt.sources.flatMap((source, i) => [
    h(
      "tr",
      { class: legOf(source.source) + within },
      h("th", { scope: "row" }, h("span", { class: "dot" }), source.source),
      h("td", {}, source.rank !== undefined ? `rank ${source.rank}` : source.filled ? "scored afterwards" : ""),
      h("td", {}, source.distance !== undefined ? `distance ${score(source.distance)}` : `score ${score(source.score)}`),
      h("td", { class: "how" }, formula(source, receipt.fusion)),
      h("td", { class: "sum" }, i === 0 ? "" : "+ ", String(source.contribution)),
    ),
    source.receipt ? lines(source.receipt, depth + 1) : [],
  ]);
  rows.push(
    h("tr", { class: `total${within}` }, h("th", { scope: "row", colspan: 4 }, `fused by ${methodText(receipt.fusion, receipt.sources.length)}`), h("td", { class: "sum" }, "= ", String(receipt.fused))),
  );
  for (const stage of receipt.stages) {
    const how = stage.value === undefined || stage.value === null ? stage.operation : `${SIGNS[stage.operation] ?? stage.operation} ${score(stage.value)}`;
    rows.push(
      h("tr", { class: `stage${within}` }, h("th", { scope: "row", colspan: 3 }, `stage ${stage.stage}`), h("td", { class: "how" }, how), h("td", { class: "sum" }, "= ", String(stage.score))),
    );
  }
  return rows;
}

function methodText({ method, preset, k, rank_base }, sources) {
  if (method === "none") return "nothing: there is one list";
  if (preset) return `${method} (${preset})`;
  if (method === "dbsf") return `dbsf: the sum ÷ ${sources}`;
  return method + (k !== undefined ? `, k ${k}` : "") + (rank_base === 0 ? ", ranks counted from 0" : "");
}

// How "auto" came to its weights.
function choiceText({ base, signals, lowest, highest, dense_weight }) {
  const moves = signals.map((one) => ` ${one.coefficient < 0 ? "−" : "+"} ${score(Math.abs(one.coefficient))} × (${one.name} ${score(one.value)} − ${score(one.usual)})`);
  return `auto gave dense ${score(dense_weight)}: ${score(base)}${moves.join("")}, kept from ${score(lowest)} to ${score(highest)}; sparse has the rest`;
}

export function arithmetic(receipt) {
  const proof = prove(receipt);
  return h(
    "div",
    { class: "arithmetic" },
    h("table", { "aria-label": "The arithmetic of this score" }, h("tbody", {}, lines(receipt))),
    receipt.fusion.choice ? h("p", { class: "choice" }, choiceText(receipt.fusion.choice)) : null,
    h("p", { class: proof.same ? "proof" : "proof broken" }, inWords(proof)),
  );
}
