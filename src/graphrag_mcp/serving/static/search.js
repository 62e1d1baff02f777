// The search view: searches while the user types, lists the results, and shows the selected one next to them.

import { Outdated, ask, cancel, isAsking } from "./api.js";
import { preview, wordsOf } from "./code.js";
import { age, badge, empty, failure, fill, glass, h, pathOf, plural } from "./dom.js";
import { Detail } from "./explain.js";
import { Filters } from "./filters.js";
import { go, remember } from "./route.js";

const DEBOUNCE_MS = 120; // For users who type faster than answers arrive.
const SHORTEST = 3;

const state = { query: "", asked: "", result: null, selected: 0, typed: 0, timer: 0 };
const FIRST = 10;
const MORE = 15; // At most 25 are asked for.

let input, list, more, box, filters, detail, note, ready, shown = FIRST;

export function start(place) {
  filters = new Filters(() => run());
  detail = new Detail({ onclose: close, ongraph: showGraph, ontab: () => keep() });
  input = h("input", {
    id: "query", type: "search", "aria-label": "Search", autocomplete: "off", spellcheck: "false",
    placeholder: "What are you looking for? A question, a name, a path", oninput: type,
  });
  note = h("p", { class: "note", role: "status" });
  list = h("ol", { class: "results", role: "listbox", "aria-label": "Results", tabindex: 0, hidden: true });
  list.addEventListener("click", (event) => {
    const item = event.target.closest("[role=option]");
    if (item) {
      select(Number(item.dataset.place));
      open();
    }
  });
  more = h("button", { type: "button", class: "button", hidden: true, onclick: () => { shown += MORE; run(state.selected); } }, "More results");
  box = h("div", { class: "found" }, list, more, h("div", { class: "instead" }));
  place.append(
    h("div", { class: "ask" },
      h("div", { class: "query" }, glass(), input, h("kbd", { "aria-hidden": "true" }, "/")),
      filters.row),
    filters.panel, note,
    h("div", { class: "split", id: "split" }, box, detail.element),
  );
  ready = filters.load();
  document.addEventListener("index", (event) => indexChanged(event.detail));
}

export async function show(params) {
  const { q = "", hit, tab, ...rest } = params;
  if (q !== state.query || document.activeElement !== input) input.value = q; // Before any wait, so that text typed meanwhile is kept.
  state.query = q;
  if (!hit) input.focus({ preventScroll: true });
  try {
    await ready;
  } catch (error) {
    instead(failure(error, () => location.reload()));
    return;
  }
  filters.set(rest);
  detail.tab = tab ?? "code";
  const place = Math.max(1, Math.floor(Number(hit)) || 1) - 1;
  if (asked() !== state.asked || !state.result) await run(place);
  else if (state.result.primary[place]) select(place);
}

export function focus() {
  input.focus();
  input.select();
}

// Return whether there was something to move to.
export function move(step) {
  const hits = state.result?.primary.length ?? 0;
  const next = state.selected + step;
  if (!hits || next < 0 || next >= hits) return hits > 0;
  select(next);
  list.children[next].scrollIntoView({ block: "nearest" });
  return true;
}

export function open() {
  if (!state.result?.primary.length) {
    run();
    return;
  }
  document.getElementById("split").classList.add("open");
  detail.focus();
}

// Return whether something was closed.
export function close() {
  const split = document.getElementById("split");
  if (!filters.panel.hidden) {
    filters.toggle(false);
    filters.button.focus();
    return true;
  }
  if (split.classList.contains("open")) {
    split.classList.remove("open");
    list.focus();
    return true;
  }
  return false;
}

export function showSymbol() {
  const hit = state.result?.primary[state.selected];
  if (!hit) return false;
  if (hit.symbol) go("symbol", { symbol: `${hit.path}::${hit.symbol}` });
  else go("file", { path: hit.path, line: hit.start_line });
  return true;
}

export function showGraph() {
  const hit = state.result?.primary[state.selected];
  if (!hit) return false;
  go("graph", { path: hit.path, line: hit.start_line, symbol: hit.symbol });
  return true;
}

function type(event) {
  state.typed = event.timeStamp;
  shown = FIRST;
  if (!state.timer && !isAsking("search")) {
    run();
    return;
  }
  clearTimeout(state.timer);
  cancel("search");
  state.timer = setTimeout(() => run(), DEBOUNCE_MS);
}

const limit = () => (filters.tool === "graphrag_hybrid_search" ? "limit" : "top_n");
const asked = () => JSON.stringify([input.value.trim(), filters.tool, filters.values]);

async function run(selected = 0) {
  clearTimeout(state.timer);
  state.timer = 0;
  state.query = input.value.trim();
  state.asked = asked();
  keep();
  if (state.query.length < SHORTEST) {
    cancel("search");
    state.result = null;
    await welcome();
    return;
  }
  const started = performance.now();
  box.setAttribute("aria-busy", "true");
  try {
    const result = await ask("search", { tool: filters.tool, arguments: { query: state.query, [limit()]: shown, ...filters.arguments() } });
    state.result = result;
    draw(Math.min(selected, Math.max(0, result.primary.length - 1)));
    note.textContent = describe(result, performance.now() - started);
    measure(started, state.typed, result.total_ms);
    state.typed = 0;
  } catch (error) {
    if (error instanceof Outdated) return;
    state.result = null;
    note.textContent = "";
    instead(failure(error, () => run()));
  }
  box.removeAttribute("aria-busy");
}

// For measurements: from the last key, and from the request, until the results are painted.
function measure(started, typed, detail) {
  requestAnimationFrame(() => setTimeout(() => {
    performance.measure("asked-to-results", { start: started, detail });
    if (typed) performance.measure("typed-to-results", { start: typed });
  }));
}

function describe(result, milliseconds) {
  const { nothing_matches: doubtful, missing_words: words } = result.meta;
  const missing = Object.entries(result.meta.unavailable).map(([name, why]) => `${name} was not searched (${why})`);
  const parts = [plural(result.primary.length, "result"), `${Math.round(milliseconds)} ms`, ...missing, ...[result.meta.restriction].filter(Boolean), ...result.meta.warnings];
  if (doubtful) parts.unshift(words.length ? `nothing matches well: ${words.join(", ")} not indexed anywhere` : "nothing matches well");
  if (result.meta.index.state !== "ready") parts.push("the index is not complete yet");
  return parts.join(" · ");
}

function keep() {
  const tab = detail.tab === "code" ? "" : detail.tab;
  remember("search", { q: state.query, ...filters.params(), hit: state.selected ? state.selected + 1 : "", tab });
}

function instead(element) {
  list.hidden = true;
  more.hidden = true;
  detail.element.hidden = true;
  fill(box.lastElementChild, element);
  box.removeAttribute("aria-busy");
  document.getElementById("split").classList.remove("open");
  document.getElementById("split").classList.add("single");
}

async function welcome() {
  note.textContent = "";
  const examples = ["where are errors handled", "how is the configuration read", "README"];
  instead(empty("Search as an agent does",
    "Type at least three characters. Every result leads to its definition, with its callers, tests and history, and shows why it stands where it stands.",
    examples.map((text) => h("button", { type: "button", class: "button", onclick: () => { input.value = text; run(); focus(); } }, text))));
}

function draw(selected) {
  const { primary } = state.result;
  if (!primary.length) {
    instead(nothing(state.result));
    return;
  }
  const words = wordsOf(state.query);
  const best = Math.max(...primary.map((hit) => hit.score));
  document.getElementById("split").classList.remove("single");
  box.lastElementChild.replaceChildren();
  list.replaceChildren(...primary.map((hit, place) => item(hit, place, best, words)));
  list.hidden = false;
  more.hidden = shown > FIRST || primary.length < FIRST;
  detail.element.hidden = false;
  select(selected);
}

function nothing(result) {
  const actions = [];
  if (result.meta.search_strategy.filters_applied.includes("exclude_archived")) {
    actions.push(h("button", { type: "button", class: "button", onclick: () => { filters.put("exclude_archived", "false"); filters.draw(); } }, "Show archived files too"));
  }
  const building = result.meta.index.state !== "ready" ? "The index is still being built; ask again in a moment. " : "";
  const filtered = result.meta.search_strategy.filters_applied.join(", ").replaceAll("_", " ");
  return empty("Nothing found", `${building}Try other words or a name.${filtered ? ` Active filters: ${filtered}.` : ""}`,
    ...actions, h("a", { class: "button", href: "#/index" }, "See what is indexed"));
}

function item(hit, place, best, words) {
  const share = h("span", { class: "share", "aria-hidden": "true" }, h("span", {}));
  share.firstChild.style.inlineSize = `${Math.max(3, Math.round((100 * hit.score) / best))}%`;
  return h("li", { role: "option", id: `hit-${place}`, "data-place": place, "aria-selected": "false" },
    h("div", { class: "title" },
      h("span", { class: "place" }, String(place + 1)),
      pathOf(hit.path, `:${hit.start_line}–${hit.end_line}`),
      h("span", { class: "score" }, share, hit.score.toFixed(2))),
    h("div", { class: "facts" },
      hit.symbol && h("span", { class: "symbol" }, hit.symbol),
      badge(hit.category), hit.is_archived && badge("archived", "warn", hit.archive_reason),
      hit.stale && badge("stale", "warn", hit.stale),
      h("span", { class: "muted" }, age(hit.modified_at && Date.parse(hit.modified_at) / 1000))),
    preview(hit, words));
}

function select(place) {
  const before = list.querySelector("[aria-selected=true]");
  before?.setAttribute("aria-selected", "false");
  state.selected = place;
  list.children[place].setAttribute("aria-selected", "true");
  list.setAttribute("aria-activedescendant", `hit-${place}`);
  detail.show(state.result, place, { tool: filters.tool, arguments: { query: state.query, ...filters.arguments() } });
  keep();
}

// While the index is being built, an empty answer is requested again.
let chunks = 0;
function indexChanged(index) {
  const grown = index.chunks > chunks;
  chunks = index.chunks;
  if (grown && index.state === "ready" && state.result && state.result.meta.index.state !== "ready") run(state.selected);
}

