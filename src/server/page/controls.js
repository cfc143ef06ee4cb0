// How to search, as controls; every change is told at once. They edit one configuration at a time.
import { collectionPath, get } from "./api.js";
import { counted, FEW, finder, h, number } from "./dom.js";
import { Filters } from "./filters.js";
import { METHODS, takesK, takesWeight, takesWords } from "./state.js";

const DEPTHS = [10, 20, 50, 100, 200, 500, 1000, 2000];
const STRATEGIES = [
  ["hybrid", "Hybrid", "both legs, fused"],
  ["dense", "Dense", "by meaning"],
  ["sparse", "Sparse", "by words"],
  ["multi_hop", "Multi-hop", "by meaning, following up on what it finds"],
];
const USUAL_WEIGHT = 0.7;

let counter = 0;
function field(label, control, hint) {
  const id = `control-${++counter}`;
  control.id = id;
  return h("div", { class: "field" }, h("label", { for: id }, label), control, hint);
}

function segmented(label, options, value, onchange) {
  const name = `choice-${++counter}`;
  return h(
    "fieldset",
    { class: "segmented" },
    h("legend", {}, label),
    h(
      "div",
      {},
      options.map(([key, text, title]) =>
        h("label", { title }, h("input", { type: "radio", name, value: key, checked: key === value, onchange: () => onchange(key) }), h("span", {}, text)),
      ),
    ),
  );
}

export class Controls {
  // `change(update)` gets the settings to change; `world` has the collections.
  constructor(world, change) {
    this.world = world;
    this.change = change;
    this.samples = new Map(); // addresses of chunks: the chunks
    this.finder = finder("collection", (text) => this.find(text));
    this.finder.dataset.control = "finder";
    this.element = h("div", { class: "controls" });
    this.filters = new Filters(change);
  }

  show(settings, collections) {
    const active = this.element.contains(document.activeElement) ? document.activeElement : null;
    this.settings = settings;
    this.element.replaceChildren(
      ...[
        this.collections(collections),
        this.namespaces(collections),
        segmented("Strategy", STRATEGIES, settings.strategy, (value) => this.change((now) => (now.strategy = value))),
        settings.strategy === "hybrid" ? this.fusion() : null,
        takesK(settings) && (settings.fusion === "rrf" || settings.k !== null) ? this.number("k", "k", "60", { min: 0, max: 10_000, step: 1 }) : null,
        this.weight(),
        this.depth(),
        settings.threshold !== null ? this.number("threshold", "Minimum score", "none", { step: "any" }) : null,
        this.hits(),
        ...this.reading(),
        this.filters.element,
        h("button", { class: "quiet reset", onclick: () => this.reset() }, "Reset all"),
      ].filter(Boolean),
    );
    this.find(this.finder.value.trim().toLowerCase());
    this.filters.show(settings, collections);
    // What was made anew is found by its name; the filters stay the same for now.
    const focused = active?.dataset.control ? this.element.querySelector(`[data-control="${CSS.escape(active.dataset.control)}"]`) : active;
    focused?.focus({ preventScroll: true });
  }

  reset() {
    this.change((now) =>
      Object.assign(now, { ns: "", strategy: "hybrid", fusion: "", k: null, weight: null, depth: null, top: 10, threshold: null, syntax: false, typos: "", filter: new Map() }),
    );
  }

  find(text) {
    for (const label of this.element.querySelectorAll(".checks label")) label.hidden = !label.control.checked && !label.dataset.name.toLowerCase().includes(text);
  }

  // Of many, those that are chosen come first.
  collections(chosen) {
    const all = this.world.collections;
    const many = all.length > FEW;
    const order = many ? all.toSorted((x, y) => chosen.includes(y.name) - chosen.includes(x.name)) : all;
    return h(
      "fieldset",
      { class: "checks" },
      h("legend", {}, all.length === 1 ? "Collection" : "Collections"),
      many ? this.finder : null,
      h("div", {}, order.map((collection) =>
        h(
          "label",
          { class: collection.damage ? "damaged" : null, title: collection.damage, "data-name": collection.name },
          h("input", {
            type: "checkbox",
            checked: chosen.includes(collection.name),
            "data-control": `collection ${collection.name}`,
            onchange: (event) => {
              const names = new Set(chosen);
              if (event.target.checked) names.add(collection.name);
              else names.delete(collection.name);
              this.change((now) => {
                now.c = all.map((one) => one.name).filter((name) => names.has(name));
                now.ns = "";
              });
            },
          }),
          h("span", {}, collection.name),
          h("small", {}, number(collection.chunks)),
        ),
      )),
    );
  }

  namespaces(chosen) {
    const there = this.world.collections.filter((one) => chosen.includes(one.name)).flatMap((one) => one.namespaces);
    const names = [...new Set([...there, this.settings.ns])].filter(Boolean); // that of an address may be nowhere
    if (names.length === 0 || (names.length === 1 && names[0] === "default")) return null;
    const select = h(
      "select",
      { "data-control": "namespace", onchange: (event) => this.change((now) => (now.ns = event.target.value)) },
      names.map((name) => h("option", { value: name === "default" ? "" : name, selected: (this.settings.ns || "default") === name }, name)),
    );
    return field("Namespace", select);
  }

  fusion() {
    const select = h(
      "select",
      { "data-control": "fusion", onchange: (event) => this.change((now) => (now.fusion = event.target.value)) },
      METHODS.map((method) => h("option", { value: method, selected: method === this.settings.fusion }, method || "default")),
    );
    return field("Fusion", select);
  }

  // Empty: the usual.
  number(name, label, usual, bounds) {
    const input = h("input", {
      type: "number",
      "data-control": name,
      placeholder: usual,
      value: this.settings[name] ?? "",
      onchange: () => input.reportValidity() && this.change((now) => (now[name] = input.value === "" ? null : Number(input.value))),
      ...bounds,
    });
    return field(label, input);
  }

  weight() {
    if (this.settings.strategy !== "hybrid") return null;
    const shown = h("output", {});
    const slider = h("input", {
      type: "range",
      class: "weight",
      "data-control": "weight",
      min: 0,
      max: 1,
      step: 0.05,
      disabled: !takesWeight(this.settings),
      "aria-label": "Weight of the dense leg",
      oninput: () => {
        write(Number(slider.value));
        this.change((now) => (now.weight = Number(slider.value)), { quietly: true });
      },
    });
    const write = (dense) => {
      slider.setAttribute("aria-valuetext", `dense ${dense.toFixed(2)}, sparse ${(1 - dense).toFixed(2)}`);
      shown.replaceChildren(h("span", { class: "sparse" }, `sparse ${(1 - dense).toFixed(2)}`), h("span", { class: "dense" }, `dense ${dense.toFixed(2)}`));
    };
    this.showWeight = (dense) => {
      slider.value = dense;
      write(dense); // which may lie between the steps of the slider
    };
    this.showWeight(this.settings.weight ?? USUAL_WEIGHT);
    return h("div", { class: "field" }, h("span", { class: "label" }, "Weights"), slider, shown);
  }

  // What nobody chose is where the answer says it was.
  learned(answer) {
    if (this.settings?.strategy !== "hybrid" || (this.settings.weight !== null && takesWeight(this.settings))) return;
    const weightOf = (leg) => answer.chunks.flatMap((hit) => hit.receipt.sources).find((source) => source.source === leg)?.weight;
    let [dense, sparse] = [weightOf("dense"), weightOf("sparse")];
    dense ??= 1 - sparse; // a leg that found none of the hits
    sparse ??= 1 - dense;
    if (dense >= 0 && sparse >= 0 && dense + sparse > 0) this.showWeight?.(dense / (dense + sparse));
  }

  depth() {
    const depths = [null, ...new Set([...DEPTHS, this.settings.depth])].filter((one, i) => i === 0 || one !== null);
    depths.sort((a, b) => (a ?? 0) - (b ?? 0));
    const at = depths.indexOf(this.settings.depth);
    const text = (index) => (depths[index] === null ? "default" : `${counted(depths[index], "candidate")} per leg`);
    const shown = h("output", {}, text(at));
    const slider = h("input", {
      type: "range",
      "data-control": "depth",
      min: 0,
      max: depths.length - 1,
      step: 1,
      value: at,
      "aria-valuetext": text(at),
      oninput: () => {
        const index = Number(slider.value);
        shown.textContent = text(index);
        slider.setAttribute("aria-valuetext", text(index));
        this.change((now) => (now.depth = depths[index]), { quietly: true });
      },
    });
    return field("Depth", slider, shown);
  }

  hits() {
    const select = h(
      "select",
      { "data-control": "top", onchange: (event) => this.change((now) => (now.top = Number(event.target.value))) },
      [...new Set([5, 10, 20, 50, 100, this.settings.top])].sort((a, b) => a - b).map((count) => h("option", { value: count, selected: count === this.settings.top }, String(count))),
    );
    return field("Hits per page", select);
  }

  // How the words of the query are read.
  reading() {
    if (!takesWords(this.settings)) return [];
    const option = (name, checked, set, text, hint) => {
      const box = h("input", { type: "checkbox", "data-control": name, checked, onchange: () => this.change((now) => set(now, box.checked)) });
      return h("label", { class: "option" }, box, h("span", {}, text, h("small", {}, hint)));
    };
    return [
      option("syntax", this.settings.syntax, (now, on) => (now.syntax = on), "Query language", "“a phrase” +must -not title:word prefix* fuzzy~1"),
      option("typos", this.settings.typos === "", (now, on) => (now.typos = on ? "" : "off"), "Correct typos", "words that no chunk has"),
    ];
  }

  // Some chunks of a collection; asked for once.
  someOf(collection, namespace) {
    const where = namespace ? `&namespace=${encodeURIComponent(namespace)}` : "";
    const path = `${collectionPath(collection)}/chunks?limit=40${where}`;
    if (!this.samples.has(path)) {
      this.samples.set(path, get(path).then(({ chunks }) => chunks).catch((error) => {
        this.samples.delete(path);
        throw error;
      }));
    }
    return this.samples.get(path);
  }

  // Titles and sections to begin with; none if there are none.
  async namesOf(collections, namespace) {
    try {
      const chunks = (await Promise.all(collections.map((name) => this.someOf(name, namespace)))).flat();
      const all = [...new Set(chunks.flatMap((chunk) => [chunk.title, chunk.section_title]))].filter((name) => name && name.length <= 40);
      const several = all.filter((name) => name.includes(" ")); // a word alone says little
      const names = several.length >= 4 ? several : all;
      return names.filter((_, i) => i % Math.ceil(names.length / 4) === 0).slice(0, 4);
    } catch {
      return [];
    }
  }
}
