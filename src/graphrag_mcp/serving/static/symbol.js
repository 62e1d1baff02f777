// The view of one definition: its code, what calls, tests and implements it, its history, and what is not known.

import { Outdated, ask } from "./api.js";
import { code } from "./code.js";
import { badge, empty, failure, fill, glass, h, pathOf } from "./dom.js";
import { actions, asAgent, call, completeness, nameOf, symbolAt, toFile, toSymbol } from "./places.js";
import { address, go } from "./route.js";

const MOST = 100;
const ROOM = 20_000; // Tokens of a tool's answer: as many rows as are asked for.
const OF_TYPES = [["users", "Users"], ["subclasses", "Subclasses"], ["implementers", "Implementers"], ["superclasses", "Above it"], ["tests", "Tests"]];
const OF_FUNCTIONS = [["callers", "Callers"], ["tests", "Tests"], ["callees", "Calls"], ["overrides", "Overrides"]];
const OF_VALUES = [["readers", "Readers"], ["writers", "Writers"], ["users", "Users"]];
const DIRECTIONS = { type: OF_TYPES, module: OF_TYPES, function: OF_FUNCTIONS, method: OF_FUNCTIONS };

let input, box, turn = 0;

export function start(place) {
  input = h("input", { id: "symbol-name", type: "search", "aria-label": "Symbol", spellcheck: "false", autocomplete: "off", placeholder: "A name, Class.method, path::name or path:line" });
  const form = h("form", { class: "ask", onsubmit: (event) => { event.preventDefault(); go("symbol", { symbol: input.value.trim() }); } },
    h("div", { class: "query" }, glass(), input), h("button", { class: "button primary" }, "Show"));
  box = h("div", { class: "page" });
  place.append(form, box);
}

export async function show({ symbol = "" }) {
  const mine = ++turn;
  input.value = symbol;
  if (!symbol) {
    fill(box, empty("One definition", "Its code, every caller by certainty, its tests, its history, and what is not known. Give its name."));
    input.focus({ preventScroll: true });
    return;
  }
  box.setAttribute("aria-busy", "true");
  try {
    const found = await call("find_symbol", { symbol, limit: 20 }, "symbol");
    if (mine === turn) draw(found, mine);
  } catch (error) {
    if (!(error instanceof Outdated) && mine === turn) fill(box, failure(error, () => show({ symbol })));
  }
  box.removeAttribute("aria-busy");
}

function draw(found, mine) {
  const [first, ...others] = found.values.rows.map((row) => row.node);
  const text = h("div", {});
  const sections = h("div", { class: "relations" });
  fill(box,
    h("div", { class: "head" },
      h("h2", {}, nameOf(first)),
      h("p", {}, badge(first.kind), first.is_archived && badge("archived", "warn"), toFile(first.path, first.start_line, pathOf(first.path, `:${first.start_line}–${first.end_line}`)), actions(first.path, first.start_line),
        h("a", { class: "link", href: address("graph", { symbol: symbolAt(first) }) }, "Graph"))),
    others.length > 0 && h("p", { class: "note" }, "Also: ", others.map((node) => [toSymbol(node, `${node.path}:${node.start_line}`), " "])),
    h("div", { class: "two" }, h("div", {}, text, section("History", "find_history", { symbol: symbolAt(first) }, history, mine)), sections));
  body(first, text, mine);
  for (const [direction, title] of DIRECTIONS[first.kind] ?? OF_VALUES) {
    sections.append(section(title, "trace_relations", { symbol: symbolAt(first), direction, limit: MOST }, relations, mine));
  }
}

async function body(node, place, mine) {
  try {
    const file = await ask("file", { path: node.path }, "file of the symbol");
    const lines = file.text.split("\n").slice(node.start_line - 1, node.end_line).join("\n");
    if (mine === turn) fill(place, file.stale && h("p", { class: "notice" }, "The file changed since it was indexed."), code(lines, node.start_line, [], { language: file.language, label: `Code of ${nameOf(node)}` }));
  } catch (error) {
    if (!(error instanceof Outdated)) fill(place, failure(error));
  }
}

// A part of the page that comes when its tool has answered; one without rows is a line.
export function section(title, tool, args, rowsOf, mine, isCurrent = () => mine === turn) {
  const place = h("section", { "aria-label": title }, h("h3", {}, title), h("p", { class: "muted" }, "Asking"));
  call(tool, { ...args, token_budget: ROOM }, `${title} of a page`).then((answer) => {
    if (!isCurrent()) return;
    const rows = rowsOf(answer.values);
    fill(place, h("h3", {}, title, h("span", { class: "number" }, String(answer.values.total))),
      rows.length > 0 && h("ul", { class: "places" }, rows),
      answer.values.total > rows.length && h("p", { class: "muted" }, `${answer.values.total - rows.length} more`),
      tool === "trace_relations" && completeness(answer), asAgent(tool, answer));
  }, (error) => {
    if (!(error instanceof Outdated)) fill(place, h("h3", {}, title), h("p", { class: "muted" }, error.message));
  });
  return place;
}

const AWAY = new Set(["callees", "superclasses", "imports"]);

export function relations({ rows, direction }) {
  return rows.map(({ source, target, edge, lines }) => {
    const node = AWAY.has(direction) ? target : source;
    return h("li", { class: `edge ${edge.relation}` },
      h("p", {}, toSymbol(node), " ", badge(edge.certainty, edge.is_guess ? "warn" : "")),
      h("p", {}, toFile(edge.path, edge.line, pathOf(edge.path, `:${(lines.length ? lines : [edge.line]).join(", ")}`))));
  });
}

export function history({ rows }) {
  return rows.map((commit) => h("li", {},
    h("p", {}, h("strong", {}, commit.message.split("\n")[0])),
    h("p", { class: "muted" }, `${commit.commit.slice(0, 10)} · ${commit.date} · ${commit.author.replace(/\s*<.*/, "")}`)));
}
