// The reference, made of what the server says of itself: OpenAPI, the methods of JSON-RPC, the tools
// of MCP. Each can be tried where it is described.
import { get, send } from "./api.js";
import { h, number, sentence } from "./dom.js";
import { body, findSample, named as change, trial } from "./trial.js";

const WHERE = { path: "in the path", query: "in the query string", header: "as a header" };

let openapi = null;
let allows = () => false; // what the key does

function resolved(schema) {
  let one = schema ?? {};
  for (let i = 0; one.$ref && i < 8; ++i) one = openapi.components.schemas[one.$ref.split("/").pop()] ?? {};
  return one;
}

function typeOf(schema) {
  const one = schema ?? {};
  if (one.$ref) return named(one) ? one.$ref.split("/").pop().replace(/^(Request|Answer)_/, "") : typeOf(resolved(one));
  if (one.const !== undefined) return JSON.stringify(one.const);
  if (one.enum) return one.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (one.anyOf) return one.anyOf.map(typeOf).join(" or ");
  if (one.minimum !== undefined) return `${[one.type].flat().join(" or ")}, ${one.maximum !== undefined ? `${number(one.minimum)} to ${number(one.maximum)}` : `at least ${number(one.minimum)}`}`;
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
  const explained = rows.some(([, , text]) => text);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h(
      "table",
      { class: "reference" },
      h("thead", {}, h("tr", {}, ["name", "type", explained ? "meaning" : []].flat().map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map(([name, type, text, required]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, name), required ? h("span", { class: "required" }, " required") : null), h("td", {}, typeof type === "string" ? type : typeCell(type, depth)), explained ? h("td", {}, text ?? "") : null))),
    ),
  );
}

const requiredOf = (schema) => [resolved(schema), ...(resolved(schema).allOf ?? []).map(resolved)].flatMap((part) => part.required ?? []);

// What a body begins with.
function example(schema, writes) {
  const members = Object.fromEntries(Object.entries(properties(schema)).map(([name, property]) => [name, resolved(property)]));
  return body(members, requiredOf(schema), writes, resolved(schema).examples?.[0]);
}

const RIGHTS = {
  read: "to read a collection",
  write: "to write a collection",
  admin: "to administer a collection",
  whole_collection: "to administer a collection and see all of it",
  whole_database: "to administer every collection and see all of them",
};

// What the key does not allow is not offered.
const offered = (need, options) => (allows(need) ? trial(options) : h("p", { class: "none" }, `This takes the right ${RIGHTS[need]}, which this key does not have.`));

// The collection that a body names.
const nameIn = (text) => messages(text).map((one) => one?.collection ?? one?.name).find((name) => typeof name === "string");

function operation(path, method, one) {
  const upper = method.toUpperCase();
  const schema = one.requestBody?.content?.["application/json"]?.schema;
  const writes = one["x-writes"];
  const answer = Object.entries(one.responses).find(([status]) => status.startsWith("2"))?.[1]?.content?.["application/json"]?.schema;
  const box = h("details", { class: "operation", id: `op-${one.operationId}` }, h("summary", {}, h("span", { class: `method ${method}` }, upper), h("code", {}, path), h("span", { class: "what" }, one.summary)));
  const fill = () => {
    if (box.dataset.filled) return;
    box.dataset.filled = "yes";
    box.append(
      ...[
        one.parameters?.length ? h("h3", {}, "Parameters") : null,
        table((one.parameters ?? []).map((parameter) => [parameter.name, `${typeOf(parameter.schema)}, ${WHERE[parameter.in]}`, parameter.description, parameter.required]), `Parameters of ${one.operationId}`),
        schema ? h("h3", {}, "Body") : null,
        schema ? table(rowsOf(schema), `Body of ${one.operationId}`) : null,
        answer ? h("h3", {}, "Answer") : null,
        answer ? table(rowsOf(answer).map((row) => row.slice(0, 3)), `Answer of ${one.operationId}`) : null,
        one["x-json-rpc-method"] ? h("p", { class: "origin" }, "JSON-RPC method: ", h("code", {}, one["x-json-rpc-method"])) : null,
        h("h3", {}, "Try it"),
        offered(one["x-needs"], { method: upper, path, parameters: one.parameters, body: schema ? JSON.stringify(example(schema, writes), null, 2) : null, writes: () => writes, does: (text, fields) => change(one.summary, fields.collection || nameIn(text)) }),
      ].filter(Boolean),
    );
  };
  box.addEventListener("toggle", () => {
    fill();
    if (box.open) history.replaceState(null, "", `/docs#${box.id}`); // to be shared
  });
  return box;
}

// What a method takes, as one schema: what its route takes in address and body, or its own.
function paramsOf({ operation, params }) {
  if (params) return params;
  const one = Object.values(openapi.paths).flatMap(Object.values).find((route) => route.operationId === operation);
  const schema = one.requestBody?.content?.["application/json"]?.schema;
  const address = (one.parameters ?? []).filter((parameter) => parameter.in !== "header");
  return {
    summary: one.summary,
    properties: { ...Object.fromEntries(address.map((parameter) => [parameter.name, { description: parameter.description, ...parameter.schema }])), ...properties(schema) },
    required: [...address.filter((parameter) => parameter.required).map((parameter) => parameter.name), ...requiredOf(schema)],
  };
}

// Whether a message, or a member of a batch, names something that changes data.
const messages = (text) => {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    return []; // the server refuses it
  }
};

function rpcSection() {
  const methods = new Map(openapi["x-json-rpc-methods"].map((method) => [method.name, method]));
  const place = h("div", { class: "method-of-rpc" });
  const show = (name) => {
    const { writes, needs } = methods.get(name);
    const schema = paramsOf(methods.get(name));
    const rows = rowsOf(schema);
    place.replaceChildren(
      ...[
        schema.summary ? h("p", {}, sentence(schema.summary)) : null,
        rows.length ? table(rows, `Parameters of ${name}`) : null,
        offered(needs, {
          method: "POST",
          path: "/rpc",
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params: example(schema, writes) }, null, 2),
          writes: (text) => messages(text).some((one) => methods.get(one?.method)?.writes),
          does: (text) => messages(text).filter((one) => methods.get(one?.method)?.writes)
            .map((one) => change(paramsOf(methods.get(one.method)).summary ?? `Call ${one.method}`, one.params?.collection ?? one.params?.name)).join("; "),
        }),
      ].filter(Boolean),
    );
  };
  const select = h("select", { id: "rpc-method", onchange: () => show(select.value) }, [...methods.keys()].map((name) => h("option", { value: name, selected: name === "braid.collections" }, name)));
  show("braid.collections");
  return h(
    "section",
    { id: "tag-rpc" },
    h("h2", {}, "JSON-RPC"),
    h("p", {}, "Send messages to ", h("code", {}, "POST /rpc"), ". ", h("code", {}, "params"), " takes what the route above takes in its path, query string and body."),
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

const changes = (tool) => tool?.annotations?.readOnlyHint === false;

const toolCall = (tool, list) => ({
  method: "POST",
  path: "/mcp",
  body: mcpMessage("tools/call", { name: tool.name, arguments: example(tool.inputSchema, changes(tool)) }),
  accept: MCP_TYPES,
  extra: mcpHeaders("tools/call", tool.name),
  writes: (text) => messages(text).some((one) => changes(list.find((other) => other.name === one?.params?.name))),
  does: (text) => change(tool.title ?? tool.name, messages(text)[0]?.params?.arguments?.collection),
});

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
        offered(changes(tool) ? "write" : "read", toolCall(tool, list)),
      ),
    ),
  );
}

export class DocsPage {
  constructor(world) {
    this.world = world;
    allows = world.allows;
    document.title = "Docs · braid";
    this.element = h("div", { class: "plain docs" }, h("h1", {}, "Reference"), h("p", { class: "wait" }, "Loading …"));
    this.load();
  }

  search() {
    if (!this.loaded) this.load(); // the server is back; what was typed into trials stays
  }

  async load() {
    try {
      [openapi] = await Promise.all([get("/v1/openapi.json"), findSample(this.world).catch(() => {})]);
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
    const mcp = h("section", { id: "tag-mcp" }, h("h2", {}, "MCP"), h("p", { class: "wait" }, "Loading the tools …"));
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
      this.loaded = true;
      if (location.hash === "#tag-mcp") document.getElementById("tag-mcp").scrollIntoView();
    } catch (error) {
      mcp.replaceChildren(h("h2", {}, "MCP"), h("p", { class: "none" }, error.message));
    }
  }
}
