// Fields of metadata, their values, and how many chunks have them: over several collections, and exact.
import { collectionPath, post } from "./api.js";
import { filterOf } from "./state.js";

const MOST = 10_000; // values that the server gives of one field
const SEVERAL = 400; // asked for at first where lists of several collections are added up

const ask = (collections, what, request) => Promise.all(collections.map((name) => post(`${collectionPath(name)}/${what}`, request)));

// What is counted: the namespace, under the filters of the other fields.
function within(settings, field) {
  const filter = filterOf({ filter: new Map([...settings.filter].filter(([name]) => name !== field)) });
  return { ...(settings.ns ? { namespace: settings.ns } : {}), ...(Object.keys(filter).length ? { filter } : {}) };
}

// How many chunks have this value.
export async function countOf(collections, field, value, settings) {
  const { filter, ...where } = within(settings, field);
  const own = filterOf({ filter: new Map([[field, [value]]]) });
  const answers = await ask(collections, "count", { ...where, filter: filter ? { $and: [filter, own] } : own });
  return answers.reduce((sum, one) => sum + one.count, 0);
}

// The most frequent values, `limit` of them, and whether there are more. Where a collection has more
// values than the server gives, those that are shown are counted one by one.
async function mostFrequent(collections, request, limit, recount) {
  let asked = collections.length === 1 ? limit + 1 : SEVERAL;
  let lists = await ask(collections, "facets", { ...request, limit: Math.min(asked, MOST) });
  const cut = (list) => list.values.length >= asked;
  if (collections.length > 1 && lists.some(cut)) {
    asked = MOST;
    lists = await ask(collections, "facets", { ...request, limit: asked });
  }
  const totals = new Map();
  for (const { values } of lists) {
    for (const { value, count } of values) totals.set(value, (totals.get(value) ?? 0) + count);
  }
  const sorted = [...totals].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
  const values = sorted.slice(0, limit);
  if (collections.length > 1 && lists.some(cut)) {
    await Promise.all(values.map(async (one) => (one.count = await recount(one.value))));
    values.sort((a, b) => b.count - a.count);
  }
  return { values, more: sorted.length > limit };
}

export function valuesOf(collections, field, settings, limit) {
  return mostFrequent(collections, { field, ...within(settings, field) }, Math.min(limit, MOST - 1), (value) => countOf(collections, field, value, settings));
}

// All of them, the most frequent first.
export async function fieldsOf(collections, namespace) {
  const { values } = await mostFrequent(collections, namespace ? { namespace } : {}, MOST - 1, async () => 0);
  return values.map((one) => one.value);
}

// What people call it: "metadata." stands before names that would mean something else without.
export const labelOf = (field) => field.replace(/^metadata\./, "") || "(no name)";
