// The view of every line with a text or a pattern, while the user types.

import { Outdated, cancel } from "./api.js";
import { empty, failure, fill, glass, h, pathOf, plural } from "./dom.js";
import { asAgent, call, symbolAt, toFile, toSymbol } from "./places.js";
import { go, remember } from "./route.js";

const DEBOUNCE_MS = 120;
const PAGE = 100;

let input, regex, word, folder, note, box, timer = 0, turn = 0;

export function start(place) {
  input = h("input", { id: "text", type: "search", "aria-label": "Text or pattern", spellcheck: "false", autocomplete: "off", placeholder: "A text, or a pattern of RE2", oninput: typed });
  regex = h("input", { type: "checkbox", id: "regex", onchange: run });
  word = h("input", { type: "checkbox", id: "whole-word", onchange: run });
  folder = h("input", { id: "grep-folder", "aria-label": "Folder", placeholder: "Folder or glob", spellcheck: "false", onchange: run });
  note = h("p", { class: "note", role: "status" });
  box = h("div", { class: "page" });
  place.append(h("div", { class: "ask" }, h("div", { class: "query" }, glass(), input),
    h("div", { class: "options" }, h("label", { class: "check" }, regex, "Pattern"), h("label", { class: "check" }, word, "Whole words"), folder)), note, box);
}

export async function show({ text = "", regex: isRegex, word: isWord, folder: within = "" }) {
  if (text !== input.value.trim() || document.activeElement !== input) input.value = text;
  regex.checked = isRegex === "true";
  word.checked = isWord === "true";
  folder.value = within;
  if (!text) input.focus({ preventScroll: true });
  await run();
}

function typed() {
  clearTimeout(timer);
  cancel("grep");
  timer = setTimeout(run, DEBOUNCE_MS);
}

const args = () => ({
  text: input.value.trim(), regex: regex.checked, whole_word: word.checked, limit: PAGE,
  ...(folder.value.trim() ? { paths: folder.value.split(",").map((one) => one.trim()).filter(Boolean) } : {}),
});

async function run() {
  clearTimeout(timer);
  const mine = ++turn;
  remember("grep", { text: input.value.trim(), regex: regex.checked || "", word: word.checked || "", folder: folder.value.trim() });
  if (!input.value.trim()) {
    note.textContent = "";
    fill(box, empty("Every line with a text", "By file and definition; complete, and checked with the files on disk."));
    return;
  }
  try {
    const answer = await call("find_occurrences", args(), "grep");
    if (mine === turn) draw(answer, []);
  } catch (error) {
    if (error instanceof Outdated || mine !== turn) return;
    note.textContent = "";
    fill(box, failure(error));
  }
}

function draw(answer, before) {
  const rows = [...before, ...answer.values.rows];
  note.textContent = answer.text.split("\n")[0];
  const files = Map.groupBy(rows, (row) => row.path);
  const more = answer.values.cursor && h("button", { type: "button", class: "button", onclick: async () => {
    const mine = turn;
    const next = await call("find_occurrences", { ...args(), cursor: answer.values.cursor }, "grep");
    if (mine === turn) draw(next, rows);
  } }, `${plural(answer.values.total - rows.length, "more line")}`);
  fill(box, [...files].map(([path, found]) => h("section", { "aria-label": path },
    h("h3", {}, toFile(path, found[0].line, pathOf(path)), h("span", { class: "number" }, String(found.length))),
    h("ul", { class: "occurrences" }, found.map((row) => h("li", {},
      toFile(path, row.line, h("span", { class: "lines" }, String(row.line))),
      h("code", {}, row.text.trim()),
      row.symbol && toSymbol({ path, symbol: row.symbol })))))), more, asAgent("find_occurrences", answer));
}
