// Colours code by its syntax. Of what highlight.js gives, texts and class names are read, and built anew as elements.

import { h } from "./dom.js";

const LONGEST = 400_000; // Characters: more takes the browser more than a moment.
const NAMES = { csharp: "cs", tsx: "typescript", toml: "ini", vue: "xml", html: "xml" };
let library;

// Return the parts of each line, null for an unknown language. draw: makes the nodes of a text.
export async function coloured(text, language, draw) {
  if (!language || text.length > LONGEST) return null;
  library ??= (await import("./vendor/highlight.js")).default;
  const name = NAMES[language] ?? language;
  if (!library.getLanguage(name)) return null;
  const { value } = library.highlight(text, { language: name, ignoreIllegals: true });
  const lines = [[]];
  const walk = (node, kind) => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) walk(child, child.classList[0] ?? kind);
      else child.data.split("\n").forEach((part, place) => {
        if (place) lines.push([]);
        if (part) lines.at(-1).push(kind ? h("span", { class: kind }, draw(part)) : draw(part));
      });
    }
  };
  walk(new DOMParser().parseFromString(`<pre>\n${value}</pre>`, "text/html").body.firstChild, "");
  return lines;
}
