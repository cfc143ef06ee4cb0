// The reference, made of what the server says of itself: OpenAPI, the methods of JSON-RPC, the tools
// of MCP. Each can be tried where it is described.
import { get, Problem, send } from "./api.js";
import { copy, duration, h, sentence } from "./dom.js";

const WHERE = { path: "in the path", query: "behind “?”", header: "as a header" };
const LONGEST = 20_000; // characters of an answer that are shown

let openapi = null;

function resolved(schema) {
  let one = schema ?? {};
  for (let i = 0; one.$ref && i < 8; ++i) one = openapi.components.schemas[one.$ref.split("/").pop()] ?? {};
  return one;
}

function typeOf(schema) {
  const one = schema ?? {};
  if (one.$ref) return one.$ref.split("/").pop().replace(/^(Request|Answer)_/, "");
  if (one.const !== undefined) return JSON.stringify(one.const);
  if (one.enum) return one.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (one.anyOf) return one.anyOf.map(typeOf).join(" or ");
  if (Array.isArray(one.type)) return one.type.join(" or ");
  if (one.type === "array") return `list of ${typeOf(one.items)}`;
  return one.type ?? "anything";
}

function properties(schema) {
  const one = resolved(schema);
  const parts = [one, ...(one.allOf ?? []).map(resolved)];
  return Object.assign({}, ...parts.map((part) => part.properties ?? {}));
}

const named = (schema) => schema?.$ref && Object.keys(properties(schema)).length > 0;

// The type; of an object that is described elsewhere, what it has, on request.
function typeCell(schema, depth) {
  const inner = named(schema) ? schema : named(schema?.items) ? schema.items : schema?.anyOf?.find(named);
  if (!inner || depth >= 3) return typeOf(schema);
  const box = h("details", { class: "inner" }, h("summary", {}, typeOf(schema)));
  box.addEventListener("toggle", () => box.childElementCount === 1 && box.append(table(rowsOf(inner), `Members of ${typeOf(inner)}`, depth + 1)));
  return box;
}

const rowsOf = (schema) => {
  const required = resolved(schema).required ?? [];
  return Object.entries(properties(schema)).map(([name, property]) => [name, property, property.description ?? resolved(property).description, required.includes(name)]);
};

function table(rows, label, depth = 0) {
  if (rows.length === 0) return null;
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h(
      "table",
      { class: "reference" },
      h("thead", {}, h("tr", {}, ["name", "type", "meaning"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map(([name, type, text, required]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, name), required ? h("span", { class: "required" }, " required") : null), h("td", {}, typeof type === "string" ? type : typeCell(type, depth)), h("td", {}, text ?? "")))),
    ),
  );
}

// A collection to try things on, where nobody names one.
let collection = "default";

// A body to begin with: an example of the schema, else its required members.
function example(schema, writes = false) {
  const one = resolved(schema);
  const where = "collection" in properties(schema) ? { collection: writes ? "" : collection } : {};
  if (one.examples?.length) return { ...one.examples[0], ...where };
  const required = [one, ...(one.allOf ?? []).map(resolved)].flatMap((part) => part.required ?? []);
  const all = properties(schema);
  const value = (property) => {
    const found = resolved(property);
    const type = Array.isArray(found.type) ? found.type[0] : found.type;
    return found.examples?.[0] ?? found.default ?? found.const ?? found.enum?.[0] ?? { string: "text", integer: 1, number: 1, boolean: true, array: [], object: {} }[type] ?? null;
  };
  return { ...Object.fromEntries(required.map((name) => [name, value(all[name])])), ...where };
}

// Fields, a body, a button, and what came back. Where it changes data, no collection is named
// beforehand, and the button is pressed twice.
function trial({ method, path, parameters = [], body = null, writes = false, extra = null }) {
  const inputs = parameters.filter((one) => one.in !== "header").map((one) => ({ ...one, input: h("input", { type: "text", id: `try-${method}-${path}-${one.name}`.replace(/\W+/g, "-"), required: one.required, placeholder: one.required ? "required" : "", value: !writes && one.name === "collection" && one.required ? collection : "" }) }));
  const button = h("button", { class: "primary" }, "Try it");
  let sure = !writes;
  const text = body === null ? null : h("textarea", { rows: Math.min(14, body.split("\n").length + 1), spellcheck: "false", "aria-label": "Body of the request" });
  if (text) text.value = body;
  const out = h("div", { class: "answer", "aria-live": "polite" });
  const run = async (event) => {
    event.preventDefault();
    if (!sure) {
      sure = true;
      button.textContent = "Yes, change data";
      return;
    }
    sure = !writes;
    button.textContent = "Try it";
    let address = path;
    const query = new URLSearchParams();
    for (const { name, in: where, input } of inputs) {
      if (where === "path") address = address.replace(`{${name}}`, encodeURIComponent(input.value));
      else if (input.value !== "") query.set(name, input.value);
    }
    if (query.size) address += `?${query}`;
    const started = performance.now();
    let status = "";
    let answer = "";
    try {
      const response = await send(method, address, { body: text ? text.value : undefined, accept: extra ? MCP_TYPES : "*/*", extra: extra ?? {} });
      status = `${response.status}`;
      answer = await response.text();
    } catch (error) {
      status = error instanceof Problem ? `${error.status || "no answer"} ${error.code}` : "error";
      answer = error.message;
    }
    try {
      answer = JSON.stringify(JSON.parse(answer), null, 2);
    } catch {
      // It is shown as it came.
    }
    const copying = h("button", { class: "quiet", type: "button", onclick: () => copy(answer, copying) }, "Copy");
    out.replaceChildren(
      h("p", { class: "origin" }, `${method} ${address} → ${status}, ${duration(performance.now() - started)} `, copying),
      h("pre", { tabindex: 0, "aria-label": "Answer" }, answer.length > LONGEST ? `${answer.slice(0, LONGEST)}\n…` : answer || "(nothing)"),
    );
  };
  return h(
    "form",
    { class: "trial", onsubmit: run },
    inputs.length ? h("div", { class: "row" }, inputs.map((one) => h("div", { class: "field" }, h("label", { for: one.input.id }, one.name), one.input))) : null,
    text,
    h("div", {}, button, writes ? h("span", { class: "origin" }, " This changes data.") : null),
    out,
  );
}

// What can be done twice by mistake takes a key against that.
const writing = (route) => (route?.parameters ?? []).some((parameter) => parameter.name === "Idempotency-Key");

function operation(path, method, one) {
  const upper = method.toUpperCase();
  const schema = one.requestBody?.content?.["application/json"]?.schema;
  const writes = writing(one);
  const body = schema ? JSON.stringify(example(schema, writes), null, 2) : null;
  const answer = Object.entries(one.responses).find(([status]) => status.startsWith("2"))?.[1]?.content?.["application/json"]?.schema;
  const box = h("details", { class: "operation", id: `op-${one.operationId}` }, h("summary", {}, h("span", { class: `method ${method}` }, upper), h("code", {}, path), h("span", { class: "what" }, one.summary)));
  const fill = () => {
    if (box.dataset.filled) return;
    box.dataset.filled = "yes";
    box.append(
      ...[
        one.parameters?.length ? h("h3", {}, "Address and headers") : null,
        table((one.parameters ?? []).map((parameter) => [parameter.name, `${typeOf(parameter.schema)}, ${WHERE[parameter.in]}`, parameter.description, parameter.required]), `Address and headers of ${one.operationId}`),
        schema ? h("h3", {}, "Body") : null,
        schema ? table(rowsOf(schema), `Body of ${one.operationId}`) : null,
        answer ? h("h3", {}, "Answer") : null,
        answer ? table(rowsOf(answer).map((row) => row.slice(0, 3)), `Answer of ${one.operationId}`) : null,
        one["x-json-rpc-method"] ? h("p", { class: "origin" }, "As JSON-RPC: ", h("code", {}, one["x-json-rpc-method"])) : null,
        h("h3", {}, "Try it"),
        trial({ method: upper, path, parameters: one.parameters, body, writes }),
      ].filter(Boolean),
    );
  };
  box.addEventListener("toggle", () => {
    fill();
    if (box.open) history.replaceState(null, "", `/docs#${box.id}`); // to be shared
  });
  return box;
}

// What the route of a method takes in its address and its body, together.
function parametersOf(one) {
  const schema = one.requestBody?.content?.["application/json"]?.schema;
  const address = (one.parameters ?? []).filter((parameter) => parameter.in !== "header");
  return {
    rows: [...address.map((parameter) => [parameter.name, parameter.schema, parameter.description, parameter.required]), ...(schema ? rowsOf(schema) : [])],
    example: { ...Object.fromEntries(address.filter((parameter) => parameter.required).map((parameter) => [parameter.name, parameter.name === "collection" ? (writing(one) ? "" : collection) : "text"])), ...(schema ? example(schema, writing(one)) : {}) },
  };
}

function rpcSection() {
  const methods = openapi.components.schemas.RpcMessage?.anyOf?.[0]?.properties?.method?.examples ?? [];
  const routes = new Map(Object.values(openapi.paths).flatMap(Object.values).map((one) => [one["x-json-rpc-method"], one]));
  const place = h("div", { class: "method-of-rpc" });
  const show = (name) => {
    const route = routes.get(name);
    const { rows, example: params } = route ? parametersOf(route) : { rows: [], example: {} };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params }, null, 2);
    place.replaceChildren(
      ...[
        route ? h("p", {}, sentence(route.summary)) : null,
        rows.length ? table(rows, `Parameters of ${name}`) : null,
        trial({ method: "POST", path: "/rpc", body, writes: writing(route) }),
      ].filter(Boolean),
    );
  };
  const select = h("select", { id: "rpc-method", onchange: () => show(select.value) }, methods.map((name) => h("option", { value: name, selected: name === "braid.collections" }, name)));
  show("braid.collections");
  return h(
    "section",
    { id: "tag-rpc" },
    h("h2", {}, "JSON-RPC"),
    h("p", {}, "Messages to ", h("code", {}, "POST /rpc"), ". A method takes as ", h("code", {}, "params"), " what its route above takes in body and address."),
    h("div", { class: "field" }, h("label", { for: "rpc-method" }, "Method"), select),
    place,
  );
}

// MCP in the revision that needs no session: the message says all, and the headers repeat it.
const REVISION = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": REVISION,
  "io.modelcontextprotocol/clientInfo": { name: "braid page", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const mcpMessage = (method, params) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } }, null, 2);
const mcpHeaders = (method, name) => ({ "MCP-Protocol-Version": REVISION, "Mcp-Method": method, ...(name ? { "Mcp-Name": name } : {}) });
const MCP_TYPES = "application/json, text/event-stream";

async function tools() {
  const response = await send("POST", "/mcp", { body: mcpMessage("tools/list", {}), accept: MCP_TYPES, extra: mcpHeaders("tools/list") });
  return (await response.json()).result.tools;
}

function toolCall(tool) {
  const writes = tool.annotations?.readOnlyHint === false;
  return {
    method: "POST",
    path: "/mcp",
    body: mcpMessage("tools/call", { name: tool.name, arguments: example(tool.inputSchema, writes) }),
    extra: mcpHeaders("tools/call", tool.name),
    writes,
  };
}

function toolSection(list) {
  return h(
    "section",
    { id: "tag-mcp" },
    h("h2", {}, "MCP"),
    h("p", {}, "Tools for agents, at ", h("code", {}, "POST /mcp"), " and over ", h("code", {}, "braid mcp"), "."),
    list.map((tool) =>
      h(
        "details",
        { class: "operation" },
        h("summary", {}, h("span", { class: "method tool" }, "TOOL"), h("code", {}, tool.name), h("span", { class: "what" }, tool.title ?? "")),
        h("p", {}, tool.description),
        table(Object.entries(tool.inputSchema?.properties ?? {}).map(([name, property]) => [name, typeOf(property), property.description, tool.inputSchema.required?.includes(name)]), `Arguments of ${tool.name}`),
        h("h3", {}, "Try it"),
        trial(toolCall(tool)),
      ),
    ),
  );
}

export class DocsPage {
  constructor(world) {
    collection = world.collections.find((one) => !one.damage)?.name ?? "default";
    document.title = "Docs · braid";
    this.element = h("div", { class: "plain docs" }, h("h1", {}, "Reference"), h("p", { class: "wait" }, "Asking the server what it can do …"));
    this.load();
  }

  search() {
    this.load();
  }

  async load() {
    try {
      openapi = await get("/v1/openapi.json");
    } catch (error) {
      this.element.replaceChildren(h("h1", {}, "Reference"), h("p", { class: "state error" }, error.message));
      return;
    }
    const groups = new Map();
    for (const [path, methods] of Object.entries(openapi.paths)) {
      for (const [method, one] of Object.entries(methods)) {
        const tag = one.tags[0];
        if (tag === "page" || tag === "messages") continue;
        if (!groups.has(tag)) groups.set(tag, []);
        groups.get(tag).push(operation(path, method, one));
      }
    }
    const mcp = h("section", { id: "tag-mcp" }, h("h2", {}, "MCP"), h("p", { class: "wait" }, "Asking for the tools …"));
    const jump = (id, name) => h("button", { class: "quiet", onclick: () => {
      history.replaceState(null, "", `/docs#${id}`);
      document.getElementById(id).scrollIntoView();
    } }, name);
    this.element.replaceChildren(
      h("h1", {}, "Reference"),
      h("p", { class: "lead" }, `braid ${openapi.info.version}. ${openapi.info.description} The same as `, h("a", { href: "/v1/openapi.json" }, "openapi.json"), "."),
      h("nav", { class: "jumps", "aria-label": "Parts of the reference" }, [...groups.keys()].map((tag) => jump(`tag-${tag}`, tag)), jump("tag-rpc", "JSON-RPC"), jump("tag-mcp", "MCP")),
      ...[...groups].map(([tag, operations]) => h("section", { id: `tag-${tag}` }, h("h2", {}, tag[0].toUpperCase() + tag.slice(1)), operations)),
      rpcSection(),
      mcp,
    );
    const wanted = document.getElementById(location.hash.slice(1));
    if (wanted && this.element.contains(wanted)) {
      wanted.open = true;
      wanted.scrollIntoView();
    }
    try {
      mcp.replaceWith(toolSection(await tools()));
    } catch (error) {
      mcp.replaceChildren(h("h2", {}, "MCP"), h("p", { class: "none" }, error.message));
    }
  }
}
