// The answer to one configuration: asks, cancels what is stale, shows hits, and every other state.
import { matchesIn, post, wordsOf } from "./api.js";
import { calm, counted, duration, h, number, say, sentence } from "./dom.js";
import { HitCard, idOf, PASSAGE, SHORT_PASSAGE } from "./hit.js";
import { inWords, requestOf } from "./state.js";

const PATIENCE = 20; // milliseconds that hits wait for the marks of their titles

const LATE = 3000; // milliseconds without an answer until the page says that it waits

const within = (promise, wait) => Promise.race([promise, new Promise((done) => setTimeout(done, wait, null))]);

export class Column {
  constructor(page, label) {
    this.page = page;
    this.cards = new Map();
    this.answer = null;
    this.status = h("div", { class: "status" });
    this.notes = h("div", { class: "notes" });
    this.list = h("ol", { class: "hits", "aria-label": label });
    this.state = h("div", { class: "states" });
    this.more = h("button", { class: "more", hidden: true, onclick: () => this.next() }, "More hits");
    this.waiting = h("p", { class: "note" }, "The server has not answered yet; still waiting …");
    this.element = h("section", { class: "column", "aria-label": label }, this.status, this.notes, this.state, this.list, this.more);
  }

  get hits() {
    return this.answer?.chunks ?? [];
  }

  // A newer question makes older ones stale: they are cancelled, here and at the server.
  async run(settings, collections) {
    this.stop();
    const own = (this.running = new AbortController());
    this.settings = structuredClone(settings);
    this.collections = collections;
    if (!settings.q.trim() || this.page.world.collections.length === 0) return this.idle();
    this.element.setAttribute("aria-busy", "true");
    this.late ??= setTimeout(() => this.tellLate(), LATE); // newer questions do not begin it anew
    try {
      const answer = await post("/v1/retrieve", requestOf(settings, collections), { signal: own.signal });
      performance.mark("braid-answer");
      this.answered();
      await this.show(answer, answer.chunks, own.signal);
      this.page.shown(this);
    } catch (error) {
      if (error.name !== "AbortError") await this.fail(error, settings, collections, own.signal);
    } finally {
      if (this.running === own) {
        this.element.removeAttribute("aria-busy");
        this.answered();
      }
    }
  }

  // What is there, to an earlier question, is dimmed meanwhile.
  tellLate() {
    if (!this.element.isConnected) return;
    this.element.prepend(this.waiting);
    this.element.classList.add("late");
    say(this.waiting.textContent);
  }

  answered() {
    clearTimeout(this.late);
    this.late = null;
    this.waiting.remove();
    this.element.classList.remove("late");
  }

  stop() {
    this.running?.abort();
    clearTimeout(this.again);
  }

  async next() {
    this.stop();
    const own = (this.running = new AbortController());
    this.more.disabled = true;
    try {
      const answer = await post("/v1/retrieve", { cursor: this.answer.cursor }, { signal: own.signal });
      const first = answer.chunks[0];
      await this.show(answer, answer.chunks, own.signal, this.hits);
      this.page.shown(this);
      if (first) this.cards.get(idOf(first))?.element.focus({ preventScroll: true });
    } catch (error) {
      if (error.name !== "AbortError") this.note("warning", error.message);
    } finally {
      this.more.disabled = false;
      if (this.running === own) this.answered();
    }
  }

  // `before`: the hits of earlier pages, which are shown already.
  async show(answer, found, signal, before = []) {
    const hits = [...before, ...found];
    this.words = wordsOf({ ...answer, chunks: hits });
    const marks = this.titles(found, signal);
    const early = await within(marks, PATIENCE);
    if (signal.aborted) throw new DOMException("stale", "AbortError");
    this.answer = { ...answer, chunks: hits };
    this.state.replaceChildren();
    this.draw(early ?? new Map());
    this.describe();
    if (hits.length === 0) this.nothing();
    this.more.hidden = !answer.cursor;
    performance.mark("braid-shown");
    if (!early) {
      const late = await marks;
      if (!signal.aborted) this.draw(late);
    }
  }

  // Where the words stand in titles and sections; hits say it of their contents.
  async titles(hits, signal) {
    const found = new Map();
    const mark = async ([collection, members]) => {
      const matches = await matchesIn(this.words, collection, members.flatMap((hit) => [hit.title ?? "", hit.section_title ?? ""]), signal);
      members.forEach((hit, i) => found.set(hit, { title: matches[2 * i], section: matches[2 * i + 1] }));
    };
    await Promise.all([...Map.groupBy(hits, (hit) => hit.collection)].map(mark));
    return found;
  }

  // Cards of hits that stay keep what was opened in them, and glide to their new places.
  draw(marks) {
    const before = new Map([...this.cards].map(([id, card]) => [id, card.element.getBoundingClientRect().top]));
    const best = Math.max(...this.hits.map((hit) => Math.max(hit.receipt.fused, hit.receipt.score)), 0);
    const several = this.collections.length > 1;
    const other = this.page.other(this);
    const places = new Map(other?.hits.map((hit) => [this.page.sameAs(hit), hit.rank]));
    const cards = new Map();
    for (const hit of this.hits) {
      const id = idOf(hit);
      const card = this.cards.get(id) ?? new HitCard();
      const place = other ? places.get(this.page.sameAs(hit)) : undefined;
      const moved = !other?.answer ? undefined : place === undefined ? null : this === this.page.left ? { to: place } : { by: place - hit.rank };
      const titles = marks.get(hit) ?? (card.hit === hit || card.words === this.words ? card.titles : undefined);
      card.show(hit, { words: this.words, size: this.page.b ? SHORT_PASSAGE : PASSAGE, best, titles, moved, several });
      cards.set(id, card);
    }
    this.cards = cards;
    const focused = document.activeElement;
    this.list.replaceChildren(...[...cards.values()].map((card) => card.element));
    if (focused && focused !== document.body && this.list.contains(focused)) focused.focus({ preventScroll: true });
    if (calm()) return;
    for (const [id, card] of cards) {
      const top = card.element.getBoundingClientRect().top;
      const from = before.has(id) ? before.get(id) - top : null;
      if (from === null) card.element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 140, easing: "ease-out" });
      else if (from !== 0) card.element.animate([{ transform: `translateY(${from}px)` }, { transform: "none" }], { duration: 220, easing: "cubic-bezier(.2,.7,.2,1)" });
    }
  }

  describe() {
    const { answer } = this;
    const legs = answer.sources.map((source) =>
      h(
        "span",
        { class: `leg ${source.source.includes("dense") ? "dense" : "sparse"}${source.ran ? "" : " failed"}`, title: `${source.collection}, ${source.method}` },
        h("span", { class: "dot" }),
        `${this.collections.length > 1 ? `${source.collection} ` : ""}${source.source} `,
        h("b", {}, source.ran ? number(source.candidates) : "failed"),
        source.ran ? ` of ${source.matched_relation ? "at least " : ""}${number(source.matched)}, ${duration(source.time_ms)}` : "",
      ),
    );
    const count = counted(this.hits.length, "hit");
    const what = this.page.b ? [h("span", { class: "what" }, inWords(this.settings, this.collections))] : [];
    this.status.replaceChildren(...what, h("span", { class: "took" }, h("b", {}, count), ` in ${duration(answer.latency_ms)}`), ...(legs.length > 4 ? [] : legs));
    this.notes.replaceChildren();
    if (answer.query_understood) this.note("quiet", `Understood as: ${answer.query_understood}`);
    if (!answer.complete && answer.warnings.length === 0) {
      const reasons = answer.sources.filter((source) => source.error).map((source) => `${source.collection} ${source.source}: ${source.error}`);
      this.note("warning", `Part of this search did not run. ${reasons.join("; ")}`);
    }
    const corrections = new Map((answer.corrections ?? []).map(({ word, instead }) => [`no chunk contains "${word}": "${instead}"`, `“${instead}” for “${word}”`]));
    const told = (warning) => [...corrections.keys()].some((beginning) => warning.startsWith(beginning));
    if (corrections.size) {
      this.note("quiet", `Also searched for: ${[...corrections.values()].join(", ")}. `, h("button", { class: "suggestion", onclick: () => this.page.changeOf(this, (now) => (now.typos = "off")) }, "Only as typed"));
    }
    for (const warning of answer.warnings) if (!told(warning)) this.note("warning", sentence(warning));
    if (answer.unused.length) this.note("quiet", `No effect here: ${answer.unused.join(", ")}.`);
    say(`${count} for ${answer.query}${answer.complete ? "" : ", incomplete"}`);
    this.page.learned(this, answer);
  }

  note(kind, ...parts) {
    this.notes.append(h("p", { class: `note ${kind}` }, parts));
  }

  clear() {
    this.answer = null;
    this.cards.clear();
    for (const part of [this.status, this.notes, this.list, this.state]) part.replaceChildren();
    this.more.hidden = true;
    this.element.removeAttribute("aria-busy");
    this.answered();
  }

  idle() {
    this.clear();
    this.state.replaceChildren(this.page.idle(this.collections));
    this.page.shown(this);
  }

  // Namespaces that hold something, where the one that is searched holds nothing.
  namespacesInstead() {
    const chosen = this.page.world.collections.filter((one) => this.collections.includes(one.name));
    const names = [...new Set(chosen.flatMap((one) => one.namespaces))];
    const wanted = this.settings.ns || "default";
    if (names.length === 0 || names.includes(wanted)) return null;
    const change = (name) => this.page.changeOf(this, (now) => (now.ns = name === "default" ? "" : name));
    return h("p", { class: "instead" }, `There is nothing in the namespace “${wanted}”. Search `, names.slice(0, 4).map((name) => h("button", { onclick: () => change(name) }, name)), " instead");
  }

  // What keeps hits out, and a button that lifts it.
  lift() {
    const button = (text, update) => h("button", { onclick: () => this.page.changeOf(this, update) }, text);
    const { filter, threshold } = this.settings;
    if (filter.size > 0) return h("p", {}, "Filters are active. ", button("Clear filters", (now) => (now.filter = new Map())));
    if (threshold !== null) return h("p", {}, `Hits need a score of at least ${threshold}. `, button("Show all", (now) => (now.threshold = null)));
    return null;
  }

  nothing() {
    const { suggestions, query } = this.answer;
    const others = this.namespacesInstead() ?? this.lift();
    this.state.replaceChildren(
      h(
        "div",
        { class: "state" },
        h("h2", {}, "Nothing matches"),
        suggestions.map(({ word, instead, chunks }) =>
          h("p", {}, `No chunk contains “${word}”. `, h("button", { class: "suggestion", onclick: () => this.page.ask(query.replace(word, instead)) }, instead), ` appears in ${number(chunks)}.`),
        ),
        others ?? (suggestions.length === 0 ? h("p", {}, this.settings.strategy === "sparse" ? "Try fewer or different words, or the dense strategy, which matches by meaning." : "Try fewer or different words.") : null),
      ),
    );
  }

  // Collections that can be searched instead of these.
  elsewhere(collections) {
    const others = this.page.world.collections.filter((one) => !one.damage && !(collections.length === 1 && collections[0] === one.name)).slice(0, 4);
    if (others.length === 0) return null;
    return h("p", { class: "instead" }, "Search ", others.map((one) => h("button", { onclick: () => this.page.changeOf(this, (now) => (now.c = [one.name])) }, one.name)), " instead");
  }

  async fail(problem, settings, collections, signal) {
    if (problem.status === 0) {
      // What was found stays, dimmed; the page says that the server is gone, and asks again.
      this.element.classList.add("stale");
      return;
    }
    if (problem.status === 404) await this.page.world.load().catch(() => {}); // dropped meanwhile, perhaps
    if (signal.aborted) return;
    this.clear();
    if (problem.status === 404) this.page.show();
    const retry = problem.retryAfter || (problem.status === 503 ? 1 : 0);
    const title = { 401: "API key required", 403: "Not allowed with this key", 404: "Not found", 429: "Too many requests", 503: "The server is busy", 504: "Timed out" }[problem.status] ?? "Search failed";
    this.state.replaceChildren(
      h(
        "div",
        { class: "state error", role: "alert" },
        h("h2", {}, title),
        h("p", {}, problem.message),
        problem.status === 401 ? h("button", { class: "primary", onclick: () => this.page.world.askKey() }, "Enter a key") : null,
        [403, 404].includes(problem.status) ? this.elsewhere(collections) : null,
        problem.status === 400 ? this.lift() : null,
        retry ? h("p", { class: "origin" }, `Retrying in ${retry} s`) : null,
      ),
    );
    say(`${title}. ${problem.message}`);
    if (retry) this.again = setTimeout(() => this.run(settings, collections), retry * 1000);
    this.page.shown(this);
  }
}
