// The view of what the uncommitted changes, those of a branch, or an edit of a symbol may break, and the tests to run.

import { Outdated, ask } from "./api.js";
import { badge, empty, failure, fill, glass, h, pathOf, plural } from "./dom.js";
import { asAgent, call, completeness, toFile, toSymbol } from "./places.js";
import { go } from "./route.js";

const OPEN = 5; // Of no more files are the lines shown at once.
const KINDS = { "+": "added", "-": "removed", " ": "" };
let base, symbol, note, box, turn = 0;

export function start(place) {
  symbol = h("input", { id: "impact-symbol", type: "search", "aria-label": "Symbol", spellcheck: "false", autocomplete: "off", placeholder: "A symbol; empty: what differs from the commit" });
  base = h("input", { id: "base", "aria-label": "Branch or commit", spellcheck: "false", placeholder: "HEAD" });
  note = h("p", { class: "note", role: "status" });
  box = h("div", { class: "page" });
  place.append(h("form", { class: "ask", onsubmit: (event) => { event.preventDefault(); go("impact", { symbol: symbol.value.trim(), base: base.value.trim() }); } },
    h("div", { class: "query" }, glass(), symbol), h("div", { class: "options" }, base, h("button", { class: "button primary" }, "Show"))), note, box);
}

export async function show({ symbol: name = "", base: commit = "" }) {
  const mine = ++turn;
  symbol.value = name;
  base.value = commit;
  box.setAttribute("aria-busy", "true");
  try {
    const args = name ? { symbol: name, limit: 200 } : { ...(commit ? { base: commit } : {}), limit: 200 };
    const answer = await call("impact", args, "impact");
    if (mine !== turn) return;
    draw(answer);
    if (!name) drawDifference(await ask("diff", { base: commit }), mine);
  } catch (error) {
    if (!(error instanceof Outdated) && mine === turn) {
      note.textContent = "";
      fill(box, failure(error, () => show({ symbol: name, base: commit })));
    }
  }
  box.removeAttribute("aria-busy");
}

function draw(answer) {
  const { values } = answer;
  note.textContent = answer.text.split("\n")[0];
  fill(box,
    values.test_commands.length > 0 && h("section", { "aria-label": "Tests" }, h("h3", {}, "Run"), values.test_commands.map((one) => h("pre", { class: "code plain" }, one))),
    values.rows.length ? h("ul", { class: "places" }, values.rows.map((row) => (row.definition ? changed(row) : reached(row))))
      : empty("Nothing that may break", values.base ? "No definition differs, or nothing uses those that do." : "Nothing in the index uses it."),
    completeness(answer), asAgent("impact", answer));
}

// The lines that differ, those of each file on request where there are many.
function drawDifference({ files, left }, mine) {
  if (mine !== turn || !files.length) return;
  box.append(h("section", { "aria-label": "Lines that differ" }, h("h3", {}, "Lines that differ", h("span", { class: "number" }, plural(files.length, "file"))),
    files.map(({ path, hunks }) => h("details", { class: "difference", open: files.length <= OPEN }, h("summary", {}, toFile(path, 0), " ", h("span", { class: "muted" }, hunks ? counts(hunks) : "its lines are not shown")),
      (hunks ?? []).map((hunk) => h("pre", { class: "code", tabindex: 0, role: "region", "aria-label": `Lines of ${path} from ${hunk.start}` }, h("code", {}, rows(hunk)))))),
    left > 0 && h("p", { class: "note" }, `Not compared: ${plural(left, "more file")}.`)));
}

function counts(hunks) {
  const marks = hunks.flatMap(({ lines }) => lines.map(([mark]) => mark));
  return `+${marks.filter((mark) => mark === "+").length} −${marks.filter((mark) => mark === "-").length}`;
}

function rows({ start, lines }) {
  let number = start;
  return lines.map(([mark, text]) => h("span", { class: `line ${KINDS[mark]}`, "data-line": mark === "-" ? "−" : number++ }, text, "\n"));
}

function changed({ definition, breaks, may_break: may, others }) {
  return h("li", { class: "changed" },
    h("p", {}, toSymbol(definition), " ", badge(definition.change, definition.is_breaking ? "warn" : ""), " ", toFile(definition.path, definition.line, pathOf(definition.path, `:${definition.line}`))),
    definition.was && definition.was !== definition.signature && h("p", { class: "signature" }, definition.was, " → ", definition.signature),
    [[breaks, "breaks", "warn"], [may, "may break", ""], [others, "uses it", ""]].map(([places, word, kind]) => places.map((one) => h("p", { class: "broken" },
      badge(word, kind), " ", one.symbol && toSymbol(one), " ", toFile(one.path, one.line, pathOf(one.path, `:${one.line}`)), " ", h("span", { class: "muted" }, one.certainty)))));
}

function reached({ node, via, edge, hops, is_test: isTest }) {
  return h("li", { class: `edge ${edge.relation}` },
    h("p", {}, toSymbol(node), " ", isTest && badge("test", "new"), " ", h("span", { class: "muted" }, `${edge.relation.replaceAll("_", " ")} ${via.symbol || via.path}, ${plural(hops, "hop")}, ${edge.certainty}`)),
    h("p", {}, toFile(edge.path, edge.line, pathOf(edge.path, `:${edge.line}`))));
}
