// The view of one file: what it defines, its code, and its history.

import { Outdated, ask } from "./api.js";
import { code } from "./code.js";
import { badge, empty, failure, fill, h, pathOf } from "./dom.js";
import { actions, toFile } from "./places.js";
import { address } from "./route.js";
import { history, relations, section } from "./symbol.js";

let box, turn = 0;

export function start(place) {
  box = h("div", { class: "page" });
  place.append(box);
}

export async function show({ path = "", line }) {
  const mine = ++turn;
  const isCurrent = () => mine === turn;
  if (!path) {
    fill(box, empty("One file", "Its outline, its code and its history.", h("a", { class: "button", href: "#/index" }, "Choose one from the index")));
    return;
  }
  box.setAttribute("aria-busy", "true");
  try {
    const file = await ask("file", { path });
    if (!isCurrent()) return;
    const chosen = Math.max(0, Math.floor(Number(line)) || 0);
    fill(box,
      h("div", { class: "head" }, h("h2", {}, pathOf(file.path), " ", badge(file.category)), h("p", {}, actions(file.path, chosen || 1))),
      file.stale && h("p", { class: "notice" }, "The file changed since it was indexed; its outline may be off."),
      h("div", { class: "two" },
        h("div", {}, code(file.text, 1, [], { language: file.language, chosen, label: `Code of ${file.path}` })),
        h("div", { class: "relations" }, outline(file),
          section("Importers", "trace_relations", { symbol: file.path, direction: "importers", limit: 100 }, relations, mine, isCurrent),
          section("History", "find_history", { path: file.path }, history, mine, isCurrent))));
    document.getElementById("chosen-line")?.scrollIntoView({ block: "center" });
  } catch (error) {
    if (!(error instanceof Outdated) && isCurrent()) fill(box, failure(error, () => show({ path, line })));
  }
  box.removeAttribute("aria-busy");
}

function outline(file) {
  const depth = (one) => Math.min(3, one.symbol.split(".").length - 1);
  return h("section", { "aria-label": "Outline" }, h("h3", {}, "Outline", h("span", { class: "number" }, String(file.definitions.length))),
    h("ul", { class: "outline" }, file.definitions.map((one) => h("li", { class: `depth${depth(one)}` },
      h("a", { class: "symbol", href: address("symbol", { symbol: `${file.path}::${one.symbol}` }) }, one.symbol.split(".").at(-1)),
      " ", h("span", { class: "muted" }, one.kind), " ", toFile(file.path, one.start_line, `:${one.start_line}`)))));
}
