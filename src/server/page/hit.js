// One hit: its title, its picture, the passage where it matches, and what can be asked about it.
import { documentOf, highlights, neighborsOf } from "./api.js";
import { counted, dialog, h, icon, ICONS, score } from "./dom.js";
import { arithmetic, picture, spokenReceipt } from "./receipt.js";

export const idOf = (hit) => `${hit.collection}\n${hit.namespace}\n${hit.chunk_id}`;

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
  for (const [begin, end] of matches) {
    if (end <= from || begin >= to) continue;
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

function passage(hit, marks) {
  const points = Array.from(hit.content).length;
  const [from, to] = marks?.window ?? [0, PASSAGE];
  // The window ends between words; before a word without end it would show next to nothing.
  const end = to - from < SHORT_PASSAGE / 2 ? from + SHORT_PASSAGE : to;
  return marked(hit.content, marks?.matches, [from, Math.min(points, end)]);
}

export const nameOf = (hit) => hit.title || hit.metadata?.title || hit.document_id || hit.chunk_id;

// What ingestion writes for itself, to know files and places in them again.
export const bookkeeping = (field, fields) => /^source_(?!format$)/.test(field) || (field === "source" && fields.includes("source_path"));

// "line 12" or "page 3", where the metadata says so.
const spot = ({ source_page, source_line }) => (source_page ? ` · page ${source_page}` : source_line ? ` · line ${source_line}` : "");

const isValue = (value) => ["string", "number", "boolean"].includes(typeof value);

function tags(hit) {
  const fields = Object.keys(hit.metadata ?? {});
  const shown = Object.entries(hit.metadata ?? {})
    .map(([field, value]) => [field, [value].flat()])
    .filter(([field, values]) => field !== "title" && field !== "source_format" && !bookkeeping(field, fields) && values.length && values.every(isValue) && values.join(", ").length <= 40)
    .slice(0, 4);
  return shown.map(([field, values]) => h("span", { class: "tag" }, `${field} `, h("b", {}, values.join(", "))));
}

const MARKED = 400; // chunks of a document whose words are marked, around the one found

async function showDocument(hit, query) {
  const body = h("div", { class: "document", "aria-busy": "true" }, h("div", { class: "wait" }, "Loading the document …"));
  const box = dialog(nameOf(hit), "drawer", body);
  try {
    const answer = await documentOf(hit);
    const chunks = answer.chunks.map((chunk) => ({ ...chunk, collection: hit.collection, namespace: hit.namespace }));
    const from = Math.max(0, chunks.findIndex((chunk) => chunk.chunk_id === hit.chunk_id) - MARKED / 2);
    const found = await highlights(query, chunks.slice(from, from + MARKED), 1);
    let section = null;
    body.replaceChildren(
      h("p", { class: "origin" }, `${hit.document_id} · ${counted(chunks.length, "chunk")} · ${hit.collection}`),
      ...chunks.flatMap((chunk) => {
        const own = chunk.chunk_id === hit.chunk_id;
        const heading = chunk.section_title && chunk.section_title !== section ? h("h3", { dir: "auto" }, marked((section = chunk.section_title), found.get(chunk)?.section)) : null;
        const text = h("p", { class: own ? "chunk own" : "chunk", dir: "auto" }, marked(chunk.content, found.get(chunk)?.matches));
        if (own) queueMicrotask(() => text.scrollIntoView({ block: "center" }));
        // Apart from the text, whose own letters tell its direction.
        const said = own ? h("p", { class: "unseen" }, "The passage found:") : null;
        return [heading, said, text].filter(Boolean);
      }),
    );
  } catch (error) {
    body.replaceChildren(h("p", { class: "state error" }, error.message));
  }
  body.removeAttribute("aria-busy");
  return box;
}

export class HitCard {
  constructor(query) {
    this.query = query;
    this.around = 0;
    this.rank = h("span", { class: "place" });
    this.title = h("h2", {});
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
      this.before,
      this.text,
      this.after,
      h(
        "div",
        { class: "foot" },
        h("div", { class: "facts" }, this.origin, this.tags),
        h("div", { class: "actions" }, this.neighbours, h("button", { class: "quiet", onclick: () => this.document() }, icon(ICONS.file), "Document")),
      ),
      this.receipt,
    );
  }

  // `best`: the largest score of the answer. `moved`, where two configurations are compared: of the
  // first one the rank in the second, {to}; of the second the places gained, {by}; null: only here.
  show(hit, { query, best, marks, moved, several }) {
    this.hit = hit;
    this.query = query;
    this.marks = marks;
    this.rank.textContent = hit.rank;
    const name = nameOf(hit);
    const section = hit.section_title && hit.section_title !== name ? [h("span", { class: "section" }, " › ", h("bdi", {}, marked(hit.section_title, marks?.section)))] : [];
    this.title.replaceChildren(h("bdi", {}, marked(name, name === hit.title ? marks?.title : [])), ...section);
    const spoken = h("span", { class: "unseen" }, `Receipt: ${spokenReceipt(hit.receipt)}`);
    this.drawing.replaceChildren(picture(hit.receipt, best), h("span", { class: "score", "aria-hidden": "true" }, score(hit.score)), spoken);
    this.drawing.title = spokenReceipt(hit.receipt);
    if (!this.whole) this.text.replaceChildren(...passage(hit, marks));
    else this.text.replaceChildren(...marked(hit.content, marks?.matches));
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

  toggleReceipt() {
    this.receipt.hidden = !this.receipt.hidden;
    this.drawing.setAttribute("aria-expanded", String(!this.receipt.hidden));
    if (!this.receipt.hidden) this.receipt.replaceChildren(arithmetic(this.hit.receipt));
  }

  document() {
    return showDocument(this.hit, this.query);
  }

  // The passage with one more chunk on each side; the fourth time back to where it began.
  async widen() {
    this.around = this.around >= 3 ? 0 : this.around + 1;
    this.neighbours.textContent = this.around === 0 ? "Neighbours" : this.around >= 3 ? "Fewer" : "More neighbours";
    if (this.around === 0) {
      this.before.replaceChildren();
      this.after.replaceChildren();
      this.whole = false;
      this.text.replaceChildren(...passage(this.hit, this.marks));
      return;
    }
    try {
      const { chunks } = await neighborsOf(this.hit, this.around);
      const own = chunks.findIndex((chunk) => chunk.chunk_id === this.hit.chunk_id);
      const texts = (list) => list.map((chunk) => h("p", { dir: "auto" }, chunk.content));
      this.whole = true;
      this.text.replaceChildren(...marked(this.hit.content, this.marks?.matches));
      this.before.replaceChildren(...texts(chunks.slice(0, own)));
      this.after.replaceChildren(...texts(chunks.slice(own + 1)));
      if (chunks.length === 1) this.after.replaceChildren(h("p", { class: "none" }, "No neighbours: this is the whole document."));
    } catch (error) {
      this.after.replaceChildren(h("p", { class: "none" }, error.message));
    }
  }
}

