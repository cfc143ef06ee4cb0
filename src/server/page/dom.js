// Builds elements. A string becomes text, never markup: there is no other way in here, and the
// content policy refuses the others.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in PROPERTIES) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  // One by one: a call takes only so many arguments.
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

const PROPERTIES = { value: 1, checked: 1, disabled: 1, hidden: 1, indeterminate: 1, selected: 1, open: 1 };

// h("p", {class: "note", onclick: f}, "text", element, [more])
export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);

// In place of what the element holds; there may be any number.
export function put(element, ...children) {
  element.replaceChildren();
  return fill(element, null, children);
}

// The same for drawings.
export const s = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

export const icon = (path, label) =>
  s("svg", { viewBox: "0 0 20 20", class: "icon", "aria-hidden": label ? null : "true", "aria-label": label }, s("path", { d: path }));

export const ICONS = {
  search: "M9 3.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11M13 13l4 4",
  close: "M5 5l10 10M15 5L5 15",
  key: "M12.5 3.5a4 4 0 1 0 0 8a4 4 0 0 0 0-8M9.6 10.4L4 16M6 14l2 2",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7M10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1",
  moon: "M16 11.6A6.5 6.5 0 0 1 8.4 4a6.5 6.5 0 1 0 7.6 7.6",
  down: "M5 8l5 5l5-5",
  file: "M6 2.5h5.5L15 6v11.5H6zM11 3v3.5h3.5",
  help: "M7.5 7.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M10 14.5v.1",
  sliders: "M4 6h7M15 6h1M4 14h1M9 14h7M13 4v4M7 12v4",
  copy: "M7 7h9v9H7zM4 13V4h9",
  swap: "M4 7h11l-3-3M16 13H5l3 3",
};

export const debounced = (wait, work) => {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), wait);
  };
};

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// What a screen reader is told.
export const say = (text) => {
  document.getElementById("spoken").textContent = text;
};

export const short = (text, most = 80) => (text.length > most ? `${Array.from(text.slice(0, most)).slice(0, -1).join("")}…` : text);
export const number = (value) => value.toLocaleString("en");
export const counted = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
// What the server says begins small, as the part of a line that it is elsewhere.
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");
export const score = (value) =>
  value === 0 ? "0" : Math.abs(value) >= 1e-4 && Math.abs(value) < 1e6 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
export const bytes = (value) => {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    ++unit;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
};
export const duration = (ms) =>
  ms < 1 ? `${Math.max(1, Math.round(ms * 1000))} µs` : ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

export const FEW = 12; // of which nobody has to search one

// A field that narrows a long list to the names that have what is typed; `found()` after each key.
export const finder = (what, found) => h("input", { type: "text", class: "finder", "aria-label": `Find a ${what}`, placeholder: `Find a ${what}`, autocomplete: "off", spellcheck: "false", oninput: (event) => found(event.target.value.trim().toLowerCase()) });

// A dialog that belongs to the moment: gone, with everything in it, once it is closed.
export function dialog(title, className, ...children) {
  const close = h("button", { class: "quiet round", "aria-label": "Close", onclick: () => box.close() }, icon(ICONS.close));
  const name = h("h2", { id: `title-${className}`, dir: "auto" }, title);
  const box = h(
    "dialog",
    { class: className, "aria-labelledby": name.id },
    h("header", {}, name, close),
    h("div", { class: "body" }, children),
  );
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => event.target === box && box.close());
  document.body.append(box);
  box.showModal();
  return box;
}

// "Copied" where it was asked for; true if the browser let us.
export async function copy(text, button) {
  const before = [...button.childNodes];
  let done = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    done = "Select and copy";
  }
  button.replaceChildren(done);
  setTimeout(() => button.replaceChildren(...before), 1400);
}
