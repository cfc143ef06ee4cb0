#include "braid/eval/report_assets.hpp"

namespace braid::eval {
namespace {

constexpr std::string_view kStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #ffffff; --ink: #1f2430; --soft: #6b7280; --faint: #9aa1ad;
  --rule: #e6e3dd; --grid: #eeebe6; --hover: #f4f1ec; --up: #15803d; --down: #c2410c;
  --up-wash: 21 128 61; --down-wash: 194 65 12; --other: #b9bec8;
  --c0: #4b5563; --c1: #2563eb; --c2: #d97706; --c3: #0d9488; --c4: #9333ea; --c5: #db2777;
  --c6: #65a30d; --c7: #0891b2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161b; --card: #1b1e25; --ink: #e6e8ec; --soft: #9aa2b1; --faint: #6d7585;
    --rule: #2b303a; --grid: #262a33; --hover: #232731; --up: #4ade80; --down: #fb923c;
    --up-wash: 74 222 128; --down-wash: 251 146 60; --other: #4b5262;
    --c0: #a8b0bf; --c1: #6ea8fe; --c2: #f5b042; --c3: #3fd0bd; --c4: #c58cfb; --c5: #f67fb6;
    --c6: #a6d854; --c7: #4cc9f0;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 56px 28px 72px; }
h1 { font-size: 34px; line-height: 1.15; letter-spacing: -0.02em; margin: 0 0 8px; }
h2 { font-size: 21px; letter-spacing: -0.01em; margin: 0 0 4px; }
h3 { font-size: 16px; margin: 0 0 2px; display: flex; align-items: center; gap: 9px;
  flex-wrap: wrap; }
h4 { font-size: 13px; margin: 0 0 6px; font-weight: 600; color: var(--soft); }
p { margin: 0 0 12px; max-width: 76ch; }
.facts { color: var(--soft); margin: 0 0 26px; }
.note { color: var(--soft); margin: 0 0 18px; font-size: 14.5px; }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 14px;
  padding: 26px 28px; margin: 22px 0; }
.findings { list-style: none; margin: 0 0 8px; padding: 0; display: grid; gap: 10px;
  font-size: 17px; }
.findings li { display: grid; grid-template-columns: 26px 1fr; align-items: baseline; }
.findings .sign { font-size: 14px; }
.up { color: var(--up); } .down { color: var(--down); } .even { color: var(--faint); }
.swatch { width: 11px; height: 11px; border-radius: 3px; display: inline-block; flex: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; font-size: 13px; color: var(--soft);
  border-bottom: 1px solid var(--rule); padding: 8px 10px; white-space: nowrap; }
td { padding: 10px; border-bottom: 1px solid var(--rule); vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
.board td { min-width: 128px; }
.board .name { font-weight: 600; white-space: nowrap; min-width: 110px; }
.board .name .swatch { margin-right: 9px; }
.board .name small { display: block; font-weight: 400; color: var(--soft); padding-left: 20px; }
.value { font-size: 18px; }
.best .value { font-weight: 700; }
.board small { font-size: 13px; }
.interval { color: var(--soft); }
.board svg { width: 120px; height: 16px; display: block; margin: 2px 0; min-width: 0; }
figure { margin: 0; overflow-x: auto; }
svg { width: 100%; display: block; min-width: 620px; }
.panel svg { min-width: 0; }
.s0 { --c: var(--c0); } .s1 { --c: var(--c1); } .s2 { --c: var(--c2); } .s3 { --c: var(--c3); }
.s4 { --c: var(--c4); } .s5 { --c: var(--c5); } .s6 { --c: var(--c6); } .s7 { --c: var(--c7); }
.swatch { background: var(--c); }
.rail { stroke: var(--grid); stroke-width: 3; stroke-linecap: round; }
.reference { stroke: var(--faint); stroke-width: 1; }
.whisker { stroke: var(--c); stroke-width: 3; stroke-linecap: round; opacity: .55; }
.dot { fill: var(--c); stroke: var(--card); stroke-width: 1.5; }
.whisker.faded { opacity: .28; } .dot.faded { fill: var(--card); stroke: var(--c); }
.grid { stroke: var(--grid); stroke-width: 1; }
.zero { stroke: var(--faint); stroke-width: 1; }
.curve { fill: none; stroke: var(--c); stroke-width: 2.4; stroke-linejoin: round; }
.area.other { fill: var(--other); opacity: .55; }
.area.relevant { fill: var(--c); opacity: .55; stroke: var(--c); stroke-width: 1; }
.bar.up { fill: var(--up); opacity: .85; } .bar.down { fill: var(--down); opacity: .85; }
.bar:hover { opacity: 1; stroke: var(--ink); stroke-width: 1; }
.hit { fill: transparent; } .hit:hover { fill: var(--ink); opacity: .06; }
svg text { font-size: 13px; fill: var(--ink); font-variant-numeric: tabular-nums; }
svg .tick { font-size: 12px; fill: var(--soft); }
svg .strong { font-weight: 600; } svg .colored { fill: var(--c); }
.end { text-anchor: end; } .middle { text-anchor: middle; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 26px; }
.gains + .gains { margin-top: 34px; padding-top: 26px; border-top: 1px solid var(--rule); }
.gains h3 { margin-bottom: 6px; } .panel .note { margin-bottom: 6px; }
h3 .aside { font-weight: 400; color: var(--soft); font-size: 14px; }
.extremes { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 26px;
  margin-top: 12px; }
.extremes ol { list-style: none; margin: 0; padding: 0; font-size: 14px; }
.extremes li { display: grid; grid-template-columns: 66px 1fr; gap: 8px; padding: 3px 0; }
.extremes .gain { font-variant-numeric: tabular-nums; font-weight: 600; }
.extremes .values { color: var(--soft); white-space: nowrap; }
.controls { display: flex; gap: 12px; flex-wrap: wrap; margin: 0 0 12px; }
.controls input, .controls select { font: inherit; font-size: 14px; padding: 7px 11px;
  border: 1px solid var(--rule); border-radius: 8px; background: var(--paper); color: var(--ink); }
.controls input { flex: 1 1 260px; }
.controls output { align-self: center; color: var(--soft); font-size: 14px; }
.queries { max-height: 640px; overflow: auto; border: 1px solid var(--rule); border-radius: 10px; }
.queries table { font-size: 14px; }
.queries th { position: sticky; top: 0; background: var(--card); z-index: 1; }
.queries th button { all: unset; cursor: pointer; padding: 2px 0; }
.queries th button:focus-visible { outline: 2px solid var(--c1); outline-offset: 3px; }
.queries th[aria-sort=ascending] button::after { content: " ↑"; }
.queries th[aria-sort=descending] button::after { content: " ↓"; }
.queries td { padding: 7px 10px; }
.queries tbody tr:hover { background: var(--hover); }
.queries .number { text-align: right; white-space: nowrap; }
.queries .id { color: var(--soft); max-width: 180px;
  overflow-wrap: break-word; }
.queries .text { min-width: 260px; }
.gainful { background: rgb(var(--up-wash) / calc(var(--size) * .55)); }
.lossy { background: rgb(var(--down-wash) / calc(var(--size) * .55)); }
footer { color: var(--soft); font-size: 14px; margin-top: 30px; }
footer p { max-width: 92ch; }
#tip { position: fixed; pointer-events: none; z-index: 9; background: var(--ink);
  color: var(--paper); padding: 8px 11px; border-radius: 8px; font-size: 13px; line-height: 1.45;
  max-width: 380px; white-space: pre-line; overflow-wrap: anywhere; opacity: 0;
  transition: opacity .08s; font-variant-numeric: tabular-nums; }
#tip.shown { opacity: .96; }
@media (max-width: 640px) { main { padding: 28px 14px; } section { padding: 20px 16px; } }
@media print {
  body { background: #fff; } section { break-inside: avoid-page; }
  .controls, #tip { display: none; } .queries { max-height: none; overflow: visible; }
}
)css";

constexpr std::string_view kScript = R"js(
"use strict";
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  document.body.append(tip);
  for (const title of document.querySelectorAll("svg title")) {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }
  const show = event => {
    const text = event.target.dataset ? event.target.dataset.tip : undefined;
    tip.classList.toggle("shown", text !== undefined);
    if (text === undefined) return;
    tip.textContent = text;
    const gap = 14, box = tip.getBoundingClientRect();
    const left = event.clientX + gap + box.width > innerWidth
      ? event.clientX - gap - box.width : event.clientX + gap;
    const top = Math.min(event.clientY + gap, innerHeight - box.height - 4);
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = Math.max(4, top) + "px";
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("scroll", () => tip.classList.remove("shown"), true);

  const data = JSON.parse(document.getElementById("values").textContent);
  const table = document.querySelector(".queries table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const first = heads.findIndex(head => head.dataset.run !== undefined);
  const signed = gain => (gain < 0 ? "−" : "+") + Math.abs(gain).toFixed(3);

  const fill = measure => {
    rows.forEach((row, q) => {
      const values = data.values[measure].map(run => run[q]);
      values.forEach((value, run) => {
        const cell = row.cells[first + run], gain = value - values[0];
        const changed = run > 0 && Math.abs(gain) > 5e-4;
        cell.textContent = value.toFixed(3);
        cell.dataset.sort = value;
        cell.className = "number" + (changed ? (gain > 0 ? " gainful" : " lossy") : "");
        cell.style.setProperty("--size", Math.abs(gain).toFixed(3));
        cell.title = changed ? signed(gain) + " against " + data.runs[0] : "";
      });
      const spread = row.cells[first + values.length];
      if (spread) {
        spread.dataset.sort = Math.max(...values) - Math.min(...values);
        spread.textContent = Number(spread.dataset.sort).toFixed(3);
      }
    });
  };
  const select = document.getElementById("measure");
  data.measures.forEach((name, i) => select.add(new Option(name, i)));
  select.addEventListener("change", () => fill(Number(select.value)));
  fill(0);

  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.sort === undefined ? cell.textContent : Number(cell.dataset.sort);
  };
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const number = head.classList.contains("number");
    const now = head.getAttribute("aria-sort");
    const rising = now === null ? !number : now === "descending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const order = new Intl.Collator(undefined, {numeric: true});
    const sorted = [...rows].sort((a, b) => {
      const x = key(a, column), y = key(b, column);
      const sign = typeof x === "number" ? x - y : order.compare(x, y);
      return rising ? sign : -sign;
    });
    body.append(...sorted);
  }));

  const filter = document.getElementById("filter"), count = document.getElementById("count");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of rows) {
      const parts = [...row.querySelectorAll(".id, .text")].map(cell => cell.textContent);
      const text = parts.join(" ").toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
      if (!row.hidden) ++left;
    }
    count.value = words.length ? left + " of " + rows.length : "";
  });
  document.querySelector(".controls").hidden = false;
})();
)js";

}  // namespace

std::string_view report_style() {
    return kStyle;
}

std::string_view report_script() {
    return kScript;
}

}  // namespace braid::eval
