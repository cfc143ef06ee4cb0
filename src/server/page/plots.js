// Small drawings of numbers.
import { bytes, counted, duration, h, number, s } from "./dom.js";

// A bar in a track, which 1 fills.
export function bar(share, leg = "") {
  const drawn = h("span", { class: `bar ${leg}` });
  drawn.style.width = `${100 * Math.min(1, share)}%`;
  return h("span", { class: "track", "aria-hidden": "true" }, drawn);
}

// A bar for each of `rows`, which are [label, value, text, leg]; `most` fills its track.
export function bars(rows, most) {
  return h(
    "ul",
    { class: "bars" },
    rows.map(([label, value, text, leg]) => h("li", {}, h("span", { class: "what" }, label), bar(Math.max(0.005, value / (most || 1)), leg), h("span", { class: "much" }, text))),
  );
}

// What a whole is made of, as one bar: `shares` are {name: size}.
export function parts(whole, shares) {
  const shown = Object.entries(shares).filter(([, size]) => size > 0);
  const kind = (name) => `${{ words: "sparse", vectors: "dense", graphs: "dense" }[name] ?? "other"} of-${name}`;
  return h(
    "figure",
    { class: "parts" },
    h("figcaption", {}, h("b", {}, bytes(whole)), " on disk"),
    h("div", { class: "stack" }, shown.map(([name, size]) => {
      const part = h("span", { class: kind(name), title: `${name}: ${bytes(size)}` });
      part.style.flexGrow = size;
      return part;
    })),
    h("ul", { class: "key" }, shown.map(([name, size]) => h("li", { class: kind(name) }, h("span", { class: "dot" }), `${name} ${bytes(size)}`))),
  );
}

const DUE = { flush: "writing chunks to a file", merge: "merging files", graph: "building a graph of vectors", calibration: "calibrating dense searches" };

// The files that searches read, a bar each, as long as it has chunks: those that live, then those
// that were replaced or deleted; then what is in memory, and what is still to be done.
export function segments({ segments: files, in_memory, pending }) {
  const most = Math.max(in_memory, ...files.map((one) => one.chunks), 1);
  const row = (name, live, dead, text, facts) => {
    const stretch = (count, kind) => {
      const part = h("span", { class: kind });
      part.style.width = `${(100 * count) / most}%`;
      return part;
    };
    return h("li", { title: facts }, h("span", { class: "what" }, name), h("span", { class: "track" }, stretch(live, "live"), stretch(dead, "dead")), h("span", { class: "much" }, text), h("span", { class: "unseen" }, facts));
  };
  const shown = files.slice(-12);
  return h(
    "figure",
    { class: "segments" },
    h("figcaption", {}, files.length ? `${counted(files.length, "file")} of chunks` : "No files yet: everything is in the log and in memory"),
    h(
      "ul",
      {},
      files.length > shown.length ? h("li", { class: "origin" }, `${counted(files.length - shown.length, "older one")}`) : null,
      shown.map((one) =>
        row(
          one.file.replace(/^segment-0*/, "file "), one.chunks - one.dead, one.dead, number(one.chunks - one.dead),
          [one.file, bytes(one.bytes), `${counted(one.vectors, "vector")}${one.graph_bytes ? `, a graph of ${bytes(one.graph_bytes)}` : ""}`, one.dead ? `${number(one.dead)} replaced or deleted` : ""].filter(Boolean).join(" · "),
        ),
      ),
      row("in memory", in_memory, 0, number(in_memory), "in the log; written to a file when there are more"),
    ),
    pending.length ? h("p", { class: "origin" }, "In progress: ", pending.map((one) => DUE[one] ?? one).join(", ")) : null,
  );
}

// "name{a="b"} 3" lines to [{name, labels, value}].
export function readMetrics(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const match = /^([a-z_:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = Object.fromEntries([...(match[2] ?? "").matchAll(/(\w+)="([^"]*)"/g)].map((pair) => [pair[1], pair[2]]));
    samples.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return samples;
}

// The histograms of a metric by one of its labels: {counts: one per bucket, bounds, total, sum}.
export function histograms(samples, metric, label) {
  const found = new Map();
  const of = (name) => found.get(name) ?? found.set(name, { bounds: [], upTo: [], total: 0, sum: 0 }).get(name);
  for (const { name, labels, value } of samples) {
    if (name === `${metric}_bucket`) {
      const one = of(labels[label]);
      one.bounds.push(labels.le === "+Inf" ? Infinity : Number(labels.le));
      one.upTo.push(value);
    } else if (name === `${metric}_count`) of(labels[label]).total = value;
    else if (name === `${metric}_sum`) of(labels[label]).sum = value;
  }
  for (const one of found.values()) one.counts = one.upTo.map((value, i) => value - (i ? one.upTo[i - 1] : 0));
  return found;
}

// The bound of the bucket that the quantile lies in: it is at most this.
export const quantile = ({ upTo, bounds, total }, q) => bounds[upTo.findIndex((value) => value >= q * total)];

const WIDTH = 220;
const HEIGHT = 56;

export function histogram(name, one, leg = "") {
  const most = Math.max(...one.counts, 1);
  const step = WIDTH / one.counts.length;
  const text = (q) => (quantile(one, q) === Infinity ? "more than 5 s" : `≤ ${duration(quantile(one, q) * 1000)}`);
  const label = `${name}: ${number(one.total)}, half ${text(0.5)}, 99 of 100 ${text(0.99)}`;
  return h(
    "figure",
    { class: "histogram" },
    h("figcaption", {}, h("b", {}, name), `${number(one.total)} × · p50 ${text(0.5)} · p99 ${text(0.99)}`),
    s(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, class: leg },
      one.counts.map((count, i) => {
        const height = count ? Math.max(2, (count / most) * (HEIGHT - 14)) : 0.75;
        const bound = one.bounds[i] === Infinity ? "more" : `up to ${duration(one.bounds[i] * 1000)}`;
        return s("rect", { x: i * step + 1, y: HEIGHT - 12 - height, width: step - 2, height, rx: 1 }, s("title", {}, `${bound}: ${number(count)}`));
      }),
      s("text", { x: 1, y: HEIGHT - 1 }, "100 µs"),
      s("text", { x: WIDTH / 2, y: HEIGHT - 1, "text-anchor": "middle" }, "10 ms"),
      s("text", { x: WIDTH - 1, y: HEIGHT - 1, "text-anchor": "end" }, "5 s"),
    ),
  );
}

// A value with its interval, on a line from 0 to 1.
export function interval(value, [low, high], className) {
  const x = (one) => 4 + Math.min(1, Math.max(0, one)) * 192;
  return s(
    "svg",
    { viewBox: "0 0 200 20", class: `interval ${className}`, "aria-hidden": "true" },
    s("line", { class: "axis", x1: 4, x2: 196, y1: 10, y2: 10 }),
    s("line", { class: "range", x1: x(low), x2: x(high), y1: 10, y2: 10 }),
    s("circle", { cx: x(value), cy: 10, r: 5 }),
  );
}
