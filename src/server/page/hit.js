// One hit: its title, its picture, the passage where it matches, and what can be asked about it.
import { documentOf, matchesIn, neighborsOf } from "./api.js";
import { counted, dialog, h, icon, ICONS, number, put, score } from "./dom.js";
import { arithmetic, picture, spokenReceipt } from "./receipt.js";

export const idOf = (hit) => `${hit.collection}\n${hit.namespace}\n${hit.chunk_id}`;

const MARKS = 500; // that a text shows at most

// The matches that are shown: those around a code point.
function nearest(matches, near, most) {
  if (matches.length <= most) return matches;
  const at = matches.findIndex(([, end]) => end > near);
  const first = Math.max(0, Math.min((at < 0 ? matches.length : at) - Math.floor(most / 2), matches.length - most));
  return matches.slice(first, first + most);
}

// A text with its matches marked, from one code point to another.
export function marked(text, matches = [], window = null) {
  const points = Array.from(text);
  const [from, to] = window ?? [0, points.length];
  const parts = [];
  let at = from;
  const piece = (begin, end) => {
    const text = points.slice(begin, end).join("");
    return window ? text.replace(/\n\s*\n\s*\n/g, "\n\n") : text;
  };
  if (from > 0) parts.push("… ");
  const inside = window ? matches.filter(([begin, end]) => end > from && begin < to) : matches;
  for (const [begin, end] of nearest(inside, from, MARKS)) {
    const first = Math.max(begin, from);
    const last = Math.min(end, to);
    if (first > at) parts.push(piece(at, first));
    parts.push(h("mark", {}, points.slice(first, last).join("")));
    at = last;
  }
  if (at < to) parts.push(piece(at, to));
  if (to < points.length) parts.push(" …");
  return parts;
}

// Code points of the passage that is shown of a hit: alone, and beside another.
export const PASSAGE = 320;
export const SHORT_PASSAGE = 110;

// The matches that a passage of this size holds: most of the different words, then most of all, the
// first of equals. [where the first begins, where the last ends]
function densest(points, matches, size) {
  const words = matches.map(([begin, end]) => points.slice(begin, end).join("").toLowerCase());
  const held = new Map(); // how often each word is between `first` and `last`
  let best = [0, 0];
  let most = [0, 0];
  for (let first = 0, last = 0; last < matches.length; ++last) {
    held.set(words[last], (held.get(words[last]) ?? 0) + 1);
    for (; first < last && matches[last][1] - matches[first][0] > size; ++first) {
      if (held.get(words[first]) === 1) held.delete(words[first]);
      else held.set(words[first], held.get(words[first]) - 1);
    }
    const [different, all] = [held.size, last - first + 1];
    if (different < most[0] || (different === most[0] && all <= most[1])) continue;
    most = [different, all];
    best = [matches[first][0], matches[last][1]];
  }
  return best;
}

// Where the passage that is shown begins and ends: its matches in the middle, as far as there is text
// on both sides, and between words where there are any near.
export function passageOf(content, matches, size) {
  const points = Array.from(content);
  const [first, last] = densest(points, matches, size);
  const spare = Math.max(0, size - (last - first));
  let end = Math.min(points.length, Math.max(first - Math.floor(spare / 2), 0) + size);
  let begin = Math.max(0, Math.min(end - size, first));
  const upTo = (count) => [...Array(Math.max(0, Math.min(count, Math.floor(size / 4)))).keys()];
  const blank = (at) => /\s/.test(points[at]);
  if (begin > 0) begin += upTo(first - begin).find((i) => blank(begin + i - 1)) ?? 0;
  if (end < points.length) end -= upTo(end - last).find((i) => blank(end - i)) ?? 0;
  return [begin, end];
}

export const nameOf = (hit) => hit.title || hit.metadata?.title || hit.document_id || hit.chunk_id;

// What ingestion writes for itself, to know files and places in them again.
export const bookkeeping = (field, fields) => /^source_(?!format$)/.test(field) || (field === "source" && fields.includes("source_path"));

// "line 12" or "page 3", where the metadata says so.
const spot = ({ source_page, source_line }) => (source_page ? ` · page ${source_page}` : source_line ? ` · line ${source_line}` : "");

const isValue = (value) => ["string", "number", "bigint", "boolean"].includes(typeof value);

function tags(hit) {
  const fields = Object.keys(hit.metadata ?? {});
  const shown = Object.entries(hit.metadata ?? {})
    .map(([field, value]) => [field, [value].flat()])
    .filter(([field, values]) => field !== "title" && field !== "source_format" && !bookkeeping(field, fields) && values.length && values.every(isValue) && values.join(", ").length <= 40)
    .slice(0, 4);
  return shown.map(([field, values]) => h("span", { class: "tag" }, `${field} `, h("b", {}, values.join(", "))));
}

const MARKED = 400; // chunks of a document whose words are marked, around the one found

// Of the matches in a document, by chunk, those to show: around the passage that was found.
function fewOf(found, chunks, own, near) {
  const shown = new Map();
  let left = MARKS;
  for (const i of [...chunks.keys()].sort((a, b) => Math.abs(a - own) - Math.abs(b - own))) {
    const matches = nearest(found.get(chunks[i])?.matches ?? [], i === own ? near : i < own ? Infinity : 0, left);
    left -= matches.length;
    shown.set(chunks[i], matches);
  }
  return shown;
}

async function showDocument(hit, words, near = 0) {
  const body = h("div", { class: "document", "aria-busy": "true" }, h("div", { class: "wait" }, "Loading the document …"));
  const box = dialog(nameOf(hit), "drawer", body);
  try {
    const answer = await documentOf(hit);
    const { chunks } = answer;
    const place = chunks.findIndex((chunk) => chunk.chunk_id === hit.chunk_id);
    const from = Math.max(0, place - MARKED / 2);
    const some = chunks.slice(from, from + MARKED);
    const matches = await matchesIn(words, hit.collection, some.flatMap((chunk) => [chunk.content, chunk.section_title ?? ""]));
    const found = new Map(some.map((chunk, i) => [chunk, { matches: matches[2 * i], section: matches[2 * i + 1] }]));
    const shown = fewOf(found, chunks, place, near);
    const count = (map) => [...map.values()].reduce((sum, one) => sum + (one.matches ?? one).length, 0);
    const more = count(found) - count(shown);
    let section = null;
    put(
      body,
      h("p", { class: "origin" }, `${hit.document_id} · ${counted(chunks.length, "chunk")} · ${hit.collection}`),
      more ? h("p", { class: "note" }, `${counted(MARKS, "match", "matches")} around the passage are marked; there are ${number(more)} more.`) : null,
      chunks.map((chunk) => {
        const own = chunk.chunk_id === hit.chunk_id;
        const heading = chunk.section_title && chunk.section_title !== section ? h("h3", { dir: "auto" }, marked((section = chunk.section_title), found.get(chunk)?.section)) : null;
        const text = h("p", { class: own ? "chunk own" : "chunk", dir: "auto" }, marked(chunk.content, shown.get(chunk)));
        if (own) {
          const at = shown.get(chunk).findIndex(([, end]) => end > near);
          queueMicrotask(() => (text.offsetHeight > innerHeight && at >= 0 ? text.querySelectorAll("mark")[at] : text).scrollIntoView({ block: "center" }));
        }
        // Apart from the text, whose own letters tell its direction.
        const said = own ? h("p", { class: "unseen" }, "The passage found:") : null;
        return [heading, said, text];
      }),
    );
  } catch (error) {
    body.replaceChildren(h("p", { class: "state error" }, error.message));
  }
  body.removeAttribute("aria-busy");
  return box;
}

export class HitCard {
  constructor() {
    this.around = 0;
    this.rank = h("span", { class: "place" });
    this.title = h("h2", { dir: "auto" });
    this.move = h("span", { class: "move" });
    this.drawing = h("button", { class: "receipt-button", "aria-expanded": "false", onclick: () => this.toggleReceipt() });
    this.before = h("div", { class: "around" });
    this.text = h("p", { class: "passage", dir: "auto" });
    this.after = h("div", { class: "around" });
    this.origin = h("span", { class: "origin" });
    this.tags = h("span", { class: "tags" });
    this.neighbours = h("button", { class: "quiet", onclick: () => this.widen() }, "Neighbours");
    this.receipt = h("div", { class: "receipt", hidden: true });
    this.element = h(
      "li",
      { class: "hit", tabindex: -1 },
      h("div", { class: "head" }, this.rank, h("div", { class: "name" }, this.title, this.move), this.drawing),
      this.receipt,
      this.before,
      this.text,
      this.after,
      h(
        "div",
        { class: "foot" },
        h("div", { class: "facts" }, this.origin, this.tags),
        h("div", { class: "actions" }, this.neighbours, h("button", { class: "quiet", onclick: () => this.document() }, icon(ICONS.file), "Document")),
      ),
    );
  }

  // `best`: the largest score of the answer. `moved`, where two configurations are compared: of the
  // first one the rank in the second, {to}; of the second the places gained, {by}; null: only here.
  // `titles`: matches of its title and section. `size`: code points of its passage.
  show(hit, { words, size, best, titles, moved, several }) {
    this.hit = hit;
    this.words = words;
    this.titles = titles;
    this.window = passageOf(hit.content, hit.matches ?? [], size);
    this.rank.textContent = hit.rank;
    const name = nameOf(hit);
    const section = hit.section_title && hit.section_title !== name ? [h("span", { class: "section" }, " › ", h("bdi", {}, marked(hit.section_title, titles?.section)))] : [];
    this.title.replaceChildren(h("span", { class: "called" }, marked(name, name === hit.title ? titles?.title : [])), ...section);
    const spoken = h("span", { class: "unseen" }, `Receipt: ${spokenReceipt(hit.receipt)}`);
    this.drawing.replaceChildren(picture(hit.receipt, best), h("span", { class: "score", "aria-hidden": "true" }, score(hit.score)), spoken);
    this.drawing.title = spokenReceipt(hit.receipt);
    this.read();
    this.origin.replaceChildren(hit.chunk_id, h("span", { class: "spot" }, spot(hit.metadata)), several ? ` · ${hit.collection}` : "");
    this.tags.replaceChildren(...tags(hit));
    this.neighbours.hidden = hit.chunk_index === null || hit.chunk_index === undefined;
    if (!this.receipt.hidden) this.receipt.replaceChildren(arithmetic(hit.receipt));
    this.move.className = "move";
    this.move.textContent = "";
    if (moved === null) {
      this.move.textContent = "only here";
      this.move.classList.add("alone");
    } else if (moved?.to) {
      this.move.textContent = moved.to === hit.rank ? "" : `→ ${moved.to}`;
    } else if (moved?.by) {
      this.move.textContent = moved.by > 0 ? `▲ ${moved.by}` : `▼ ${-moved.by}`;
      this.move.classList.add(moved.by > 0 ? "up" : "down");
    }
    this.move.title = moved === undefined ? "" : moved === null ? "Not in the other configuration" : "Its rank in the two configurations";
  }

  // The passage, or all of it where its neighbours are shown.
  read() {
    put(this.text, marked(this.hit.content, this.hit.matches, this.around ? null : this.window));
  }

  toggleReceipt() {
    this.receipt.hidden = !this.receipt.hidden;
    this.drawing.setAttribute("aria-expanded", String(!this.receipt.hidden));
    if (!this.receipt.hidden) this.receipt.replaceChildren(arithmetic(this.hit.receipt));
  }

  document() {
    return showDocument(this.hit, this.words, this.window[0]);
  }

  // The passage with one more chunk on each side; the fourth time back to where it began.
  async widen() {
    this.around = this.around >= 3 ? 0 : this.around + 1;
    this.neighbours.textContent = this.around === 0 ? "Neighbours" : this.around >= 3 ? "Fewer" : "More neighbours";
    if (this.around === 0) {
      this.before.replaceChildren();
      this.after.replaceChildren();
      this.read();
      return;
    }
    const { hit, around } = this;
    const wanted = () => around === this.around; // nobody asked for more or fewer meanwhile
    try {
      const { chunks } = await neighborsOf(hit, around);
      const found = await matchesIn(this.words, hit.collection, chunks.map((chunk) => chunk.content));
      if (!wanted()) return;
      const own = chunks.findIndex((chunk) => chunk.chunk_id === hit.chunk_id);
      const texts = chunks.map((chunk, i) => h("p", { dir: "auto" }, marked(chunk.content, found[i])));
      this.read();
      put(this.before, texts.slice(0, own));
      put(this.after, texts.slice(own + 1));
      if (chunks.length === 1) this.after.replaceChildren(h("p", { class: "none" }, "No neighbours: this is the whole document."));
    } catch (error) {
      if (wanted()) this.after.replaceChildren(h("p", { class: "none" }, error.message));
    }
  }
}

