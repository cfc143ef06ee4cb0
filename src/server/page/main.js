// Which page the address names, and what all pages share: the collections, the key, the look, and
// whether the server is there.
import { get, hasKey, onConnection, Problem, useKey } from "./api.js";
import { dialog, h, icon, ICONS } from "./dom.js";
import { SearchPage } from "./search.js";

// Those but the search are fetched when somebody goes there. A browser remembers that a fetch failed:
// the next one, once the server is back, is of another address.
let attempt = "";
const PAGES = {
  "/": async () => SearchPage,
  "/collections": async () => (await import(`./collections.js${attempt}`)).CollectionsPage,
  "/evaluate": async () => (await import(`./evaluate.js${attempt}`)).EvaluatePage,
  "/docs": async () => (await import(`./docs.js${attempt}`)).DocsPage,
};

const content = document.getElementById("content");
const notice = document.getElementById("notice");
let page = null;
let asking = null;

const RIGHTS = ["read", "write", "admin"]; // each with those before it
const atLeast = (wanted, right) => RIGHTS.indexOf(right) >= RIGHTS.indexOf(wanted);

const world = {
  collections: [],
  rights: null,
  async load() {
    const [listed, rights] = await Promise.all([get("/v1/collections"), get("/v1/whoami")]);
    world.collections = listed.collections;
    world.rights = rights;
  },
  // What the key says of a collection, there or not: by its name, else by the longest beginning.
  rightTo(name) {
    const grants = new Map(Object.entries(world.rights?.grants ?? {}));
    const fits = [...grants.keys()].filter((one) => one.endsWith("*") && name.startsWith(one.slice(0, -1)));
    return grants.get(name) ?? grants.get(fits.sort((a, b) => b.length - a.length)[0]);
  },
  // Whether a collection may be written; without a name, any at all.
  mayWrite: (name) => (name === undefined ? world.allows("write") : atLeast("write", world.rightTo(name))),
  // Whether there is a collection of which the key allows this; `need` as "x-needs" of OpenAPI.
  allows(need) {
    const given = Object.values(world.rights?.grants ?? {});
    const seesAll = world.rights?.sees_everything;
    if (need === "whole_database") return seesAll && atLeast("admin", world.rightTo("*")) && given.every((one) => one === "admin");
    if (need === "whole_collection") return seesAll && given.includes("admin");
    return !need || given.some((one) => atLeast(need, one));
  },
  askKey,
};

function askKey(reason) {
  if (asking) return;
  const input = h("input", { type: "password", id: "api-key", autocomplete: "off", required: true });
  const told = h("p", { class: "state error", hidden: true, role: "alert" });
  asking = dialog(
    "API key",
    "middle",
    h("p", {}, reason ?? "This server requires an API key. It is kept in this tab’s memory only, and forgotten when you close the tab."),
    h(
      "form",
      {
        class: "row",
        onsubmit: async (event) => {
          event.preventDefault();
          const before = useKey(input.value.trim());
          try {
            await world.load();
            asking.close();
            showTools();
            open();
          } catch (error) {
            useKey(before);
            told.textContent = error.message;
            told.hidden = false;
            input.select();
          }
        },
      },
      h("div", { class: "field grow" }, h("label", { for: "api-key" }, "API key"), input),
      h("button", { class: "primary" }, "Continue"),
    ),
    told,
  );
  asking.addEventListener("close", () => (asking = null));
  input.focus();
}

// The choice of colours is kept by the browser, where it lets us.
function remembered(value) {
  try {
    if (value) localStorage.setItem("theme", value);
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

function theme(value) {
  if (value) document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
}

const dark = () => document.documentElement.dataset.theme === "dark" || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);

function showTools() {
  const readOnly = world.rights && !world.mayWrite();
  document.getElementById("tools").replaceChildren(
    ...[
      readOnly ? h("span", { class: "chip", title: "This key can only read" }, "read-only") : null,
      world.rights?.name ? h("span", { class: "chip who", title: `The key “${world.rights.name}”` }, world.rights.name) : null,
      hasKey() ? h("button", { class: "quiet round", "aria-label": "Use another key", title: "Use another key", onclick: () => askKey() }, icon(ICONS.key)) : null,
      h("button", {
        class: "quiet round",
        "aria-label": dark() ? "Light colours" : "Dark colours",
        title: dark() ? "Light colours" : "Dark colours",
        onclick: () => {
          const next = dark() ? "light" : "dark";
          theme(next);
          remembered(next);
          showTools();
        },
      }, icon(dark() ? ICONS.sun : ICONS.moon)),
    ].filter(Boolean),
  );
}

// The server is gone: say so, keep what is there, and look for it until it is back.
let waiting = null;
function lost() {
  if (waiting) return;
  notice.replaceChildren(h("p", {}, h("b", {}, "The server is not responding."), `${page ? " You are seeing earlier results." : ""} Reconnecting …`));
  document.body.classList.add("offline");
  const look = async () => {
    try {
      const response = await fetch("/healthz", { cache: "no-store" });
      if (!response.ok) throw new Error();
    } catch {
      waiting = setTimeout(look, 1500);
      return;
    }
    waiting = null;
    notice.replaceChildren();
    document.body.classList.remove("offline");
    if (page) page.search?.();
    else start();
  };
  waiting = setTimeout(look, 1000);
}
onConnection((state) => {
  if (state === "unauthenticated" && !asking) askKey(hasKey() ? "The key is no longer known here, or has expired. Enter another." : undefined);
  if (state === "offline") lost();
});

// An address of nothing; the server says so too (404).
function showMissing() {
  document.title = "Not found · braid";
  content.replaceChildren(
    h("div", { class: "state" }, h("h1", {}, "Page not found"), h("p", {}, "There is nothing at ", h("code", {}, location.pathname), " on this server."),
      h("p", {}, "Go to ", h("a", { href: "/" }, "search"), ", the ", h("a", { href: "/collections" }, "collections"), " or the ", h("a", { href: "/docs" }, "API reference"), ".")),
  );
}

async function open() {
  page?.leave?.();
  page = null;
  const path = location.pathname;
  if (!(path in PAGES)) return showMissing();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.page === path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  let Page;
  try {
    Page = await PAGES[path]();
  } catch {
    attempt = `?${Date.now()}`;
    content.replaceChildren(h("div", { class: "state" }, h("h1", {}, "Page not loaded"), h("p", {}, "It will load when the server is back.")));
    lost();
    return;
  }
  if (location.pathname !== path) return; // somebody went on meanwhile
  page = new Page(world);
  content.replaceChildren(page.element);
  document.body.dataset.page = path;
  if (path === "/") document.getElementById("query").focus();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link?.matches(".skip")) {
    event.preventDefault(); // what stands behind "#" is the search
    content.focus();
    return;
  }
  if (!link || !world.rights || link.origin !== location.origin || !(link.pathname in PAGES) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  open();
});
addEventListener("popstate", () => {
  if (!world.rights) return start();
  document.querySelectorAll("dialog").forEach((one) => one.close());
  if (page?.restore && document.body.dataset.page === location.pathname) page.restore();
  else open();
});
// A file that misses its place must not take the tab, and the key with it.
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (page?.pressed?.(event)) event.preventDefault();
});

async function start() {
  if (!(location.pathname in PAGES)) {
    showTools();
    return showMissing();
  }
  content.replaceChildren(h("p", { class: "state wait" }, "Connecting …"));
  try {
    await world.load();
  } catch (error) {
    showTools();
    const why = error instanceof Problem ? error : new Problem(0, "page", String(error));
    content.replaceChildren(
      h("div", { class: why.status === 401 ? "state" : "state error" }, h("h1", {}, why.status === 401 ? "API key required" : why.status === 0 ? "The server is not responding" : "Something went wrong"), h("p", {}, why.status === 401 ? "This server requires an API key." : why.status === 0 ? "This page goes on when it is back." : why.message),
        why.status === 401 ? h("button", { class: "primary", onclick: () => askKey() }, "Enter a key") : null),
    );
    return;
  }
  showTools();
  open();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTools);
theme(remembered());
start();
