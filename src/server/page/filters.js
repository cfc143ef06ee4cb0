// Filters from facets: the fields of the metadata, and values of each with how many chunks have them.
// Ticking one filters by it.
import { patiently } from "./api.js";
import { counted, h, number, say, short } from "./dom.js";
import { countOf, fieldsOf, labelOf, valuesOf } from "./facets.js";
import { bookkeeping } from "./hit.js";
import { parse, print } from "./json.js";
import { isRange, valueText } from "./state.js";

const FIELDS = 12; // shown at first
const VALUES = 8; // of each
const STEP = 50; // more at a time

const DAY = /^\d{4}-\d\d-\d\d(?=T|$)/;
const numberOf = (text) => (/^-?[1-9]\d*$/.test(text) ? parse(text) : Number(text)); // with all digits
const same = (a, b) => print(a) === print(b);

export class Filters {
  // `change(update)` gets the settings to change.
  constructor(change) {
    this.change = change;
    this.element = h("div", { class: "filters" });
    this.opened = new Map(); // fields that somebody opened or closed
    this.limits = new Map(); // fields of which more values were asked for
    this.known = new Map(); // fields of collections
    this.all = false; // not the first fields alone
    this.shown = "";
  }

  async show(settings, collections) {
    const key = print([collections, settings.ns, [...settings.filter], this.all]);
    if (key === this.shown) return;
    this.shown = key;
    const wanted = () => key === this.shown;
    const again = () => {
      if (wanted()) this.shown = ""; // the next search tries again; it says what is wrong
    };
    this.wanted = wanted;
    this.again = again;
    try {
      const names = await patiently(() => this.fieldsOf(collections, settings.ns), wanted, () => this.wait());
      const all = [...new Set([...settings.filter.keys(), ...names])];
      const some = this.all ? all : all.slice(0, Math.max(FIELDS, settings.filter.size));
      const fields = some.map((name, i) => new Field(this, name, { settings, collections, open: this.opened.get(name) ?? (i < 2 || settings.filter.has(name)) }));
      await Promise.all(fields.map((field) => field.element.open && field.fill()));
      if (wanted()) this.draw(fields, all.length - some.length);
    } catch {
      again();
    }
  }

  draw(fields, rest) {
    const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset.filter : null;
    const more = h("button", { class: "quiet", "data-filter": "fields", onclick: () => { this.all = true; this.change(() => {}); } }, `${counted(rest, "more field")}`);
    this.element.replaceChildren(...(fields.length ? [h("h2", {}, "Filters")] : []), ...fields.map((field) => field.element), ...(rest > 0 ? [more] : []));
    if (focused) this.element.querySelector(`[data-filter="${CSS.escape(focused)}"]`)?.focus();
  }

  wait() {
    this.element.replaceChildren(h("h2", {}, "Filters"), h("p", { class: "none" }, "Too many requests. Retrying …"));
  }

  async fieldsOf(collections, namespace) {
    const key = JSON.stringify([collections, namespace]);
    if (!this.known.has(key)) {
      const names = await fieldsOf(collections, namespace);
      this.known.set(key, names.filter((name) => !bookkeeping(name, names)));
    }
    return this.known.get(key);
  }
}

class Field {
  constructor(panel, name, { settings, collections, open }) {
    Object.assign(this, { panel, name, settings, collections });
    this.chosen = settings.filter.get(name) ?? [];
    this.list = h("div", { class: "values" }, h("p", { class: "none" }, "Counting …"));
    this.element = h(
      "details",
      { open, ontoggle: () => this.element.open && !this.filled && this.fill() },
      h("summary", { "data-filter": `field ${name}`, onclick: () => panel.opened.set(name, !this.element.open) }, short(labelOf(name)), this.chosen.length ? h("span", { class: "count" }, String(this.chosen.length)) : null),
      this.list,
    );
  }

  async fill() {
    this.filled = true;
    const { name, settings, collections, panel } = this;
    const limit = panel.limits.get(name) ?? Math.max(VALUES, this.chosen.length);
    try {
      const { values, more } = await patiently(() => valuesOf(collections, name, settings, limit), panel.wanted);
      const others = this.chosen.filter((value) => !values.some((one) => same(one.value, value)));
      const counts = await Promise.all(others.map((value) => countOf(collections, name, value, settings)));
      // A value for each chunk is nothing to choose from.
      if (more && values[0].count === 1 && this.chosen.length === 0 && !panel.opened.has(name)) this.element.open = false;
      this.draw([...others.map((value, i) => ({ value, count: counts[i] })), ...values], more, limit);
    } catch (error) {
      this.filled = false;
      this.list.replaceChildren(h("p", { class: "none" }, error.message));
      panel.again();
    }
  }

  draw(values, more, limit) {
    const most = Math.max(...values.map((one) => one.count), 1);
    this.list.replaceChildren(
      ...values.map((one) => this.value(one, most)),
      ...(values.length === 0 ? [h("p", { class: "none" }, "No values.")] : []),
      ...(more ? [h("button", { class: "quiet", "data-filter": `more ${this.name}`, onclick: () => this.further(limit) }, "More values")] : []),
      ...(more || limit > VALUES ? [this.typed()] : []),
      ...this.range(values.map((one) => one.value).filter((value) => !isRange(value))),
    );
  }

  value({ value, count }, most) {
    const bar = h("span", { class: "bar" });
    bar.style.width = `${(100 * count) / most}%`;
    const id = `value ${this.name} ${print(value)}`;
    const input = h("input", { type: "checkbox", checked: this.chosen.some((one) => same(one, value)), "data-filter": id, onchange: () => this.choose(value, input.checked) });
    const text = valueText(value);
    return h("label", { title: short(text) === text ? null : short(text, 1000) }, input, h("span", {}, text.trim() === "" ? "(blank)" : short(text)), h("small", {}, number(count)), bar);
  }

  // Values, or a range: not both.
  choose(value, chosen) {
    this.panel.change((now) => {
      const kept = (now.filter.get(this.name) ?? []).filter((one) => !same(one, value) && isRange(one) === isRange(value) && !isRange(one));
      if (chosen) kept.push(value);
      if (kept.length) now.filter.set(this.name, kept);
      else now.filter.delete(this.name);
    });
  }

  async further(limit) {
    this.panel.limits.set(this.name, limit + STEP);
    const before = this.list.querySelectorAll("label").length;
    await this.fill();
    this.list.querySelectorAll("input[type=checkbox]")[before]?.focus();
  }

  // From one number or day to another, where values are such; either may be left out.
  range(values) {
    const days = values.every((value) => DAY.test(value));
    if (values.length < 3 || !(days || values.every((value) => ["number", "bigint"].includes(typeof value)))) return [];
    const now = this.chosen.find(isRange) ?? {};
    const [from, to] = [["from", now.$gte], ["to", now.$lte]].map(([word, value]) => {
      const shown = value === undefined ? "" : days ? (DAY.exec(value)?.[0] ?? "") : String(value);
      return h("input", { type: days ? "date" : "text", inputmode: days ? null : "decimal", value: shown, autocomplete: "off", "aria-label": `${labelOf(this.name)} ${word}`, "data-filter": `${word} ${this.name}` });
    });
    const told = h("p", { class: "none", role: "status" });
    const take = (event) => {
      event.preventDefault();
      let [low, high] = [from, to].map((input) => input.value.trim());
      const wrong = days ? undefined : [low, high].find((text) => !Number.isFinite(Number(text)));
      if (wrong !== undefined) {
        told.textContent = `“${wrong}” is not a number.`;
        return;
      }
      if (low && high && (days ? low > high : numberOf(low) > numberOf(high))) [low, high] = [high, low];
      // A day lasts until its end.
      const range = { ...(low && { $gte: days ? low : numberOf(low) }), ...(high && { $lte: days ? `${high}T23:59:59.999Z` : numberOf(high) }) };
      this.choose(Object.keys(range).length ? range : now, Object.keys(range).length > 0);
    };
    return [h("form", { class: "range", onsubmit: take }, h("span", {}, "From"), from, h("span", {}, "To"), to, h("button", { "data-filter": `range ${this.name}` }, "Apply"), told)];
  }

  // A value that is not in the list; what is typed may mean a text, a number or a truth.
  typed() {
    const label = labelOf(this.name);
    const input = h("input", { type: "text", "aria-label": `Another value of ${label}`, placeholder: "Another value", autocomplete: "off", spellcheck: "false", "data-filter": `typed ${this.name}` });
    const told = h("p", { class: "none", role: "status" });
    const take = async (event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (!text) return;
      const readings = [text, ...(Number.isFinite(Number(text)) ? [numberOf(text)] : []), ...(/^(true|false)$/.test(text) ? [text === "true"] : [])];
      try {
        const counts = await Promise.all(readings.map((value) => countOf(this.collections, this.name, value, this.settings)));
        const found = readings[counts.findIndex((count) => count > 0)];
        if (found !== undefined) return this.choose(found, true);
        told.textContent = `No chunk has ${label} “${text}”.`;
      } catch (error) {
        told.textContent = error.message;
      }
      say(told.textContent);
    };
    return h("form", { class: "typed", onsubmit: take }, input, told);
  }
}
