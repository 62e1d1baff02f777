// Places in the repository: links to the views of a file and a symbol, the editor, and what a tool said of them.

import { ask, project } from "./api.js";
import { count, h } from "./dom.js";
import { address } from "./route.js";

const EDITOR = "vscode://file/{path}:{line}";

// Of this browser: where "Open" leads.
export const editor = {
  get: () => localStorage.getItem("editor") || EDITOR,
  set: (template) => (template && template !== EDITOR ? localStorage.setItem("editor", template) : localStorage.removeItem("editor")),
};

export const call = (tool, args, kind) => ask("call", { tool, arguments: args }, kind);

export const nameOf = (node) => node.symbol || node.path.split("/").at(-1);
export const symbolAt = (node) => (node.symbol ? `${node.path}::${node.symbol}` : node.path);

export function toFile(path, line, ...children) {
  return h("a", { href: address("file", { path, line }) }, children.length ? children : `${path}${line ? `:${line}` : ""}`);
}

export function toSymbol(node, ...children) {
  const href = node.symbol ? address("symbol", { symbol: symbolAt(node) }) : address("file", { path: node.path });
  return h("a", { class: "symbol", href }, children.length ? children : nameOf(node));
}

// Copy path:line, and open it in the editor.
export function actions(path, line) {
  const copy = h("button", { type: "button", class: "link", onclick: async () => {
    await navigator.clipboard.writeText(`${path}:${line}`);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy path:line"; }, 1500);
  } }, "Copy path:line");
  const open = h("a", { class: "link", rel: "noreferrer" }, "Open in editor");
  project().then(({ root }) => {
    const file = `${root}/${path}`.split("/").map(encodeURIComponent).join("/");
    const href = editor.get().replaceAll("{path}", file).replaceAll("{line}", String(line));
    if (/^[a-z][a-z0-9+.-]*:/i.test(href) && !/^(?:javascript|data|vbscript):/i.test(href)) open.setAttribute("href", href);
  }, () => undefined);
  return h("span", { class: "actions" }, copy, open);
}

// What an agent reads in the place of what is shown.
export function asAgent(tool, answer) {
  return h("details", { class: "as-agent" },
    h("summary", {}, `As the agent sees it: ${tool}, about ${count(answer.tokens)} tokens`),
    h("pre", { class: "code plain", tabindex: 0, role: "region", "aria-label": `The answer of ${tool}` }, answer.text));
}

// The last line of an exact answer: whether it is complete, else what it lacks.
export function completeness(answer) {
  const last = answer.text.trimEnd().split("\n").at(-1) ?? "";
  return h("p", { class: last.startsWith("Complete") ? "complete" : "lacks" }, last);
}
