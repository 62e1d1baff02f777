// Shows code as text: numbered lines, with the words of the query marked, and the colours of its syntax.

import { h } from "./dom.js";
import { coloured } from "./syntax.js";

const COMMON = new Set(["the", "and", "are", "for", "how", "what", "where", "which", "with", "does", "this", "that", "who", "why", "when", "from", "into"]);

export function wordsOf(query) {
  const words = query.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => [word, ...word.split(/_|(?<=\p{Ll})(?=\p{Lu})/u)]);
  const kept = words.filter((word) => word.length > 2 && !COMMON.has(word.toLowerCase()));
  return [...new Set(kept.map(stem))].sort((a, b) => b.length - a.length);
}

// Near enough to what the index does: "fused" marks "fuse", "fuses" and "fusing".
function stem(word) {
  const short = word.toLowerCase().replace(/(?:ings?|ed|es|s|e)$/, "");
  return short.length > 2 ? short : word.toLowerCase();
}

export function marked(text, words) {
  if (!words.length) return [text];
  const pattern = new RegExp(`((?:${words.map((word) => word.replace(/[^\p{L}\p{N}_]/gu, "\\$&")).join("|")})\\p{Ll}*)`, "giu");
  return text.split(pattern).map((part, place) => (place % 2 ? h("mark", {}, part) : part)).filter((part) => part !== "");
}

// `chosen` is a line that is shown as such. Colours come when their script is there.
export function code(text, first, words, { limit = Infinity, label = "Code", language = "", chosen = 0 } = {}) {
  const all = text.replace(/\n$/, "").split("\n").slice(0, limit);
  const lines = all.map((line, place) => h("span", { class: first + place === chosen ? "line chosen" : "line", id: first + place === chosen ? "chosen-line" : undefined, "data-line": first + place }, marked(line, words), "\n"));
  coloured(all.join("\n"), language, (part) => marked(part, words)).then((rows) => {
    if (rows?.length === lines.length) rows.forEach((parts, place) => lines[place].replaceChildren(...parts.flat(), "\n"));
  }, () => undefined); // Without the script the code has no colours.
  const props = limit === Infinity ? { tabindex: 0, role: "region", "aria-label": label } : {};
  return h("pre", { class: "code", ...props }, h("code", {}, lines));
}

// The few lines that tell most: from the first of the best ones, else from the first that holds a word of the query.
export function preview(hit, words, limit = 3) {
  const lines = hit.text.replace(/\n$/, "").split("\n");
  const found = hit.lines.length ? hit.lines[0].line - hit.start_line
    : lines.findIndex((line) => words.some((word) => line.toLowerCase().includes(word)));
  const start = Math.max(0, Math.min(found < 0 ? 0 : found, lines.length - limit));
  return code(lines.slice(start).join("\n"), hit.start_line + start, words, { limit, language: hit.language });
}
