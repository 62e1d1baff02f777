// The view of how code reaches other code: a chain of definitions, with the lines that lead on.

import { Outdated } from "./api.js";
import { badge, empty, failure, fill, glass, h, pathOf } from "./dom.js";
import { asAgent, call, toFile, toSymbol } from "./places.js";
import { go } from "./route.js";

let from, to, box, turn = 0;

export function start(place) {
  const field = (id, label, hint) => h("input", { id, type: "search", "aria-label": label, spellcheck: "false", autocomplete: "off", placeholder: hint });
  from = field("from", "From", "From: a function, or words");
  to = field("to", "To", "To: what it reaches");
  box = h("div", { class: "page" });
  place.append(h("form", { class: "ask", onsubmit: (event) => { event.preventDefault(); go("flow", { from: from.value.trim(), to: to.value.trim() }); } },
    h("div", { class: "query" }, glass(), from), h("div", { class: "query" }, glass(), to), h("button", { class: "button primary" }, "Show")), box);
}

export async function show({ from: start = "", to: end = "" }) {
  const mine = ++turn;
  from.value = start;
  to.value = end;
  if (!start && !end) {
    fill(box, empty("How code reaches other code", "Give two functions. One alone shows what it leads to, or what leads to it."));
    from.focus({ preventScroll: true });
    return;
  }
  box.setAttribute("aria-busy", "true");
  try {
    const args = { ...(start ? { from: [start] } : {}), ...(end ? { to: [end] } : {}), limit: 20 };
    const answer = await call("trace_relations", args, "flow");
    if (mine === turn) draw(answer);
  } catch (error) {
    if (!(error instanceof Outdated) && mine === turn) fill(box, failure(error, () => show({ from: start, to: end })));
  }
  box.removeAttribute("aria-busy");
}

function draw(answer) {
  const { rows } = answer.values;
  const chains = rows.filter((row) => row.links);
  const lines = answer.text.split("\n");
  fill(box,
    chains.map(({ links }, place) => h("section", { "aria-label": `Chain ${place + 1}` }, h("h3", {}, `Chain ${place + 1}`),
      h("ol", { class: "chain" }, links.map((link) => step(link.source, link)), step(links.at(-1).target)))),
    !chains.length && h("pre", { class: "code plain", tabindex: 0, role: "region", "aria-label": "The answer" }, lines.join("\n")),
    chains.length > 0 && asAgent("trace_relations", answer));
}

function step(node, link) {
  return h("li", {},
    h("p", {}, toSymbol(node), " ", toFile(node.path, node.start_line, pathOf(node.path, `:${node.start_line}`))),
    link && h("p", { class: "leads" }, toFile(link.edge.path, link.edge.line, `:${link.edge.line}`), " ", h("code", {}, link.text.trim()), " ",
      badge(link.read ? `through ${link.read}` : link.edge.certainty, link.edge.is_guess ? "warn" : "")));
}
