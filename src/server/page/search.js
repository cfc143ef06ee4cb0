// The search: a box, controls beside it, one column of hits or two that are compared.
import { counted, debounced, h, icon, ICONS, s } from "./dom.js";
import { Column } from "./column.js";
import { Controls } from "./controls.js";
import { idOf } from "./hit.js";
import { showCopy, showKeys, showWhyNot } from "./panels.js";
import { address, readAddress } from "./state.js";

const TYPING = 50; // milliseconds without a key before the question is asked
const PAUSE = 1500; // and before it counts as one that somebody settled on

export class SearchPage {
  constructor(world) {
    this.world = world;
    Object.assign(this, readAddress(location.hash));
    this.edited = "a";
    this.left = new Column(this, "Hits");
    this.right = new Column(this, "Hits of the second configuration");
    this.controls = new Controls(world, (update, how) => this.change(update, how));
    this.input = h("input", {
      type: "search",
      id: "query",
      value: this.a.q,
      placeholder: "Ask a question or enter keywords",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      maxlength: 8000,
      dir: "auto",
      "aria-label": "Search",
      "aria-keyshortcuts": "/",
      oninput: () => this.typed(),
    });
    this.soon = debounced(TYPING, () => this.search());
    this.settle = () => (this.settled = true);
    this.settleSoon = debounced(PAUSE, this.settle);
    this.lines = s("svg", { class: "lines", "aria-hidden": "true" });
    this.columns = h("div", { class: "columns" });
    this.switch = h("div", { class: "switch", role: "group", "aria-label": "Controls for" });
    this.tuning = h("details", { class: "side", open: matchMedia("(min-width: 60rem)").matches }, h("summary", {}, icon(ICONS.sliders), "Controls and filters"), this.switch, this.controls.element);
    this.actions = h("div", { class: "toolbar" });
    this.element = h(
      "div",
      { class: "search" },
      h("h1", { class: "unseen" }, "Search"),
      h("form", { class: "box", role: "search", onsubmit: (event) => { event.preventDefault(); this.search(); this.settle(); } }, icon(ICONS.search), this.input, h("kbd", { title: "Press / to search" }, "/")),
      h("div", { class: "layout" }, this.tuning, h("div", { class: "results", onclick: this.settle }, this.actions, this.columns)),
    );
    this.resized = new ResizeObserver(() => this.drawLines());
    this.resized.observe(this.columns);
    this.lay();
    this.search();
    this.settle();
  }

  // The browser went back or forth: the address says what to show.
  restore() {
    Object.assign(this, readAddress(location.hash));
    if (!this.b) this.edited = "a";
    this.input.value = this.a.q;
    this.settled = false;
    this.lay();
    this.search();
    this.settle();
  }

  // What somebody settled on by Enter, a choice or a pause stays in the browser's history; what was
  // typed on the way there does not.
  record() {
    const place = location.pathname + address(this.a, this.b).replace(/^#$/, "");
    if (place === this.recorded) return;
    this.recorded = place;
    history[this.settled ? "pushState" : "replaceState"](null, "", place);
    this.settled = false;
    this.settleSoon();
  }

  leave() {
    this.left.stop();
    this.right.stop();
    this.resized.disconnect();
  }

  // Of one configuration; without a choice, "default" or the largest collection.
  collectionsOf(settings) {
    if (settings.c.length) return settings.c;
    const all = this.world.collections.filter((one) => !one.damage);
    const usual = all.find((one) => one.name === "default") ?? all.toSorted((x, y) => y.chunks - x.chunks)[0];
    return usual ? [usual.name] : [];
  }

  get now() {
    return this.edited === "b" && this.b ? this.b : this.a;
  }

  other(column) {
    return !this.b ? null : column === this.left ? this.right : this.left;
  }

  // By what hits of both columns are the same: of two collections that are compared, by their ids.
  sameAs(hit) {
    const alone = (settings) => this.collectionsOf(settings).length === 1;
    return alone(this.a) && alone(this.b) ? `${hit.namespace}\n${hit.chunk_id}` : idOf(hit);
  }

  typed() {
    this.a.q = this.input.value;
    if (this.b) this.b.q = this.a.q;
    this.soon();
  }

  ask(query) {
    this.settle();
    this.input.value = query;
    this.typed();
    this.input.focus();
  }

  // A change by a control. `quietly`: the control shows it already, and must not be made anew while
  // it is dragged.
  change(update, { quietly = false } = {}) {
    update(this.now);
    if (quietly) return this.search({ controls: false });
    this.settle();
    this.search();
    this.settle();
  }

  // One that a column offers is about its own configuration.
  changeOf(column, update) {
    this.edited = column === this.right ? "b" : "a";
    this.laySwitch();
    this.change(update);
  }

  // The one that the controls are about, where there are two.
  get side() {
    return this.b ? (this.edited === "a" ? "left" : "right") : null;
  }

  compare() {
    if (this.b) {
      this.b = null;
      this.edited = "a";
    } else {
      this.b = structuredClone(this.a);
      this.b.strategy = this.a.strategy === "hybrid" ? "sparse" : "hybrid";
      this.edited = "b";
    }
    this.lay();
    this.settle();
    this.search();
    this.settle();
  }

  lay() {
    const two = this.b !== null;
    this.columns.classList.toggle("two", two);
    this.columns.replaceChildren(this.left.element, ...(two ? [this.lines, this.right.element] : []));
    this.tuning.classList.toggle("two", two);
    this.actions.replaceChildren(
      h("span", { class: "legend" }, h("span", { class: "dense" }, h("span", { class: "dot" }), "dense, by meaning"), h("span", { class: "sparse" }, h("span", { class: "dot" }), "sparse, by words")),
      h("button", { class: "quiet", "aria-pressed": String(two), onclick: () => this.compare() }, icon(ICONS.swap), two ? "Stop comparing" : "Compare"),
      h("button", { class: "quiet asked", onclick: () => showWhyNot(this.now, this.collectionsOf(this.now), this.side, (update) => this.change(update)) }, icon(ICONS.help), "Why not?"),
      h("button", { class: "quiet asked", onclick: () => showCopy(this.now, this.collectionsOf(this.now), this.side) }, icon(ICONS.copy), "Copy as …"),
    );
    this.tuning.hidden = this.actions.hidden = this.world.collections.length === 0; // nothing to tune
    this.laySwitch();
  }

  // To name no namespace is to search "default": where no chunk is in it, the first that is there.
  chooseNamespace(settings) {
    const names = this.world.collections.filter((one) => this.collectionsOf(settings).includes(one.name)).flatMap((one) => one.namespaces);
    if (!settings.ns && names.length && !names.includes("default")) settings.ns = names[0];
  }

  // Which of two configurations the controls are about.
  laySwitch() {
    this.switch.replaceChildren(
      ...(this.b
        ? ["a", "b"].map((one) =>
            h("button", { "aria-pressed": String(this.edited === one), onclick: () => { this.edited = one; this.laySwitch(); this.show(); } }, one === "a" ? "Left" : "Right"),
          )
        : []),
    );
  }

  show() {
    for (const settings of [this.a, this.b]) if (settings) this.chooseNamespace(settings);
    this.controls.show(this.now, this.collectionsOf(this.now));
  }

  search({ controls = true } = {}) {
    this.record();
    if (controls) this.show();
    document.title = this.a.q.trim() ? `${this.a.q} · braid` : "braid";
    for (const column of [this.left, this.right]) column.element.classList.remove("stale");
    this.actions.classList.toggle("idle", !this.a.q.trim());
    this.left.run(this.a, this.collectionsOf(this.a));
    if (this.b) this.right.run(this.b, this.collectionsOf(this.b));
  }

  learned(column, answer) {
    if ((column === this.right) === (this.now === this.b)) this.controls.learned(answer);
  }

  // A column has a new answer: the other one's moves, and the lines between them, are about it.
  shown(column) {
    const other = this.other(column);
    if (other?.answer) {
      other.draw(new Map());
      if (column.answer) column.draw(new Map());
    }
    this.drawLines();
  }

  drawLines() {
    this.lines.replaceChildren();
    if (!this.b || !this.left.answer || !this.right.answer) return;
    const frame = this.lines.getBoundingClientRect();
    if (frame.width === 0) return;
    const y = (card) => {
      const box = card.element.querySelector(".head").getBoundingClientRect();
      return box.top + box.height / 2 - frame.top;
    };
    const right = new Map([...this.right.cards.values()].map((card) => [this.sameAs(card.hit), card]));
    for (const card of this.left.cards.values()) {
      const match = right.get(this.sameAs(card.hit));
      if (!match) continue;
      const moved = card.hit.rank - match.hit.rank;
      const [from, to, middle] = [y(card), y(match), frame.width / 2];
      this.lines.append(
        s("path", { class: moved > 0 ? "up" : moved < 0 ? "down" : "same", d: `M0 ${from}C${middle} ${from} ${middle} ${to} ${frame.width} ${to}` }, s("title", {}, `${card.hit.chunk_id}: ${card.hit.rank} to ${match.hit.rank}`)),
      );
    }
  }

  // Nothing is there: whoever may add something can do so here.
  nothing() {
    if (!this.world.mayWrite()) {
      return h("div", { class: "state welcome" }, h("h2", {}, "Nothing that this key may read"), h("p", {}, "Ask for a key that may read the collection you need."));
    }
    const place = h("div", {});
    const added = async () => {
      await this.world.load().catch(() => {}); // told elsewhere
      this.lay();
      this.search();
    };
    import("./drop.js").then(({ dropZone }) => place.append(dropZone(this.world, added)), () => {});
    return h("div", { class: "state welcome" }, h("h2", {}, "Nothing to search yet"), h("p", {}, "Add some text: drop files below, or run"), h("pre", {}, "braid ingest notes/"), place);
  }

  idle(collections) {
    const chosen = this.world.collections.filter((one) => collections.includes(one.name));
    if (this.world.collections.length === 0) return this.nothing();
    const chunks = chosen.reduce((sum, one) => sum + one.chunks, 0);
    const documents = chosen.reduce((sum, one) => sum + one.documents, 0);
    const examples = h("p", { class: "examples" });
    this.controls.namesOf(collections, this.now.ns).then((names) => {
      if (names.length) examples.append("For example ", ...names.map((name) => h("button", { class: "suggestion", onclick: () => this.ask(name) }, h("bdi", {}, name))));
    });
    return h(
      "div",
      { class: "state welcome" },
      h("h2", {}, `${counted(chunks, "passage")} in ${counted(documents, "document")}`),
      h("p", {}, `In ${chosen.map((one) => one.name).join(", ")}. Each hit shows which leg found it, at what rank, and how much that contributed.`),
      examples,
      h("p", { class: "hint" }, h("kbd", {}, "/"), " search ", h("kbd", {}, "↓"), " to the hits ", h("kbd", {}, "Enter"), " receipt ", h("kbd", {}, "?"), " all keys"),
    );
  }

  // Keys of the whole page; true if it was one.
  pressed(event) {
    const { target, key } = event;
    const typing = target.matches("input:not([type=checkbox], [type=radio]), select, textarea");
    if (key === "ArrowDown" && target === this.input) return this.step(null, 1);
    if (key === "Escape" && !typing && this.element.contains(target)) return this.input.focus(), true;
    if (typing) return false;
    if (key === "/") return this.input.focus(), this.input.select(), true;
    if (key === "?") return showKeys(), true;
    const element = target.closest?.(".hit");
    if (!element) return false;
    const card = [...this.left.cards.values(), ...this.right.cards.values()].find((one) => one.element === element);
    if (key === "ArrowDown" || key === "j") return this.step(element, 1);
    if (key === "ArrowUp" || key === "k") return this.step(element, -1);
    if (key === "d") return card.document(), true;
    if (key === "n") return card.widen(), true;
    if (key === "Enter" && target === element) return card.toggleReceipt(), true;
    return false;
  }

  step(from, by) {
    const list = from ? from.parentElement : this.left.list;
    const next = from ? (by > 0 ? from.nextElementSibling : from.previousElementSibling) : list.firstElementChild;
    if (next) next.focus();
    else if (by < 0) this.input.focus();
    return true;
  }
}

