// The graph view: a picture of what stands around one symbol, and the same as a list.

import { Outdated, ask, cancel } from "./api.js";
import { badge, empty, failure, fill, glass, h, pathOf, plural } from "./dom.js";
import { toSymbol } from "./places.js";
import { go } from "./route.js";

const FEWEST = 15; // Neighbours that are shown first.
const MOST = 40;
const FAMILIES = { instantiates: "calls", hands_on: "calls", reads: "uses", writes: "uses", implements: "inherits", overrides: "inherits", contains: "imports" };
const COLOURS = ["calls", "uses", "imports", "inherits", "tests", "links_to"];
const familyOf = (relation) => FAMILIES[relation] ?? relation;
const wordsOf = (relation) => relation.replaceAll("_", " ");
const PHRASES = {
  calls: ["Calls", "Called by"],
  uses: ["Uses the type", "Used as a type by"],
  imports: ["Imports", "Imported by"],
  inherits: ["Inherits from", "Inherited by"],
  tests: ["Tests", "Tested by"],
  links_to: ["Links to", "Linked from"],
  instantiates: ["Creates", "Created by"],
  hands_on: ["Hands over", "Handed over by"],
  reads: ["Reads", "Read by"],
  writes: ["Writes", "Written by"],
  implements: ["Implements", "Implemented by"],
  overrides: ["Overrides", "Overridden by"],
  contains: ["Contains", "Contained in"],
};
const BETWEEN = 170;
const ROW = 44;
const TALLEST = 14;
const TITLE = 24; // Above the nodes of a file.
const FOLDED = 4; // More nodes of one file, in a picture of many, are one until it is clicked.

let input, hops, picture, list, summary, legend, cytoscape, drawn, current, turn = 0;
let unfolded = new Set(); // Files whose nodes are shown, by their column and path.

export function start(place) {
  input = h("input", { id: "symbol", type: "search", "aria-label": "Symbol", spellcheck: "false", autocomplete: "off", placeholder: "A name, Class.method, path:line or a path" });
  hops = h("select", { id: "hops", onchange: submit }, [1, 2, 3].map((one) => h("option", { value: one }, plural(one, "hop"))));
  const form = h("form", { class: "ask", onsubmit: (event) => { event.preventDefault(); submit(); } },
    h("div", { class: "query" }, glass(), input),
    h("div", { class: "options" }, h("label", { for: "hops", class: "sr" }, "How far"), hops, h("button", { class: "button primary" }, "Show")));
  summary = h("p", { class: "note", role: "status" });
  picture = h("div", { class: "picture", "aria-hidden": "true" });
  legend = h("ul", { class: "legend", "aria-label": "Colours of the relations" });
  list = h("div", { class: "neighbours" });
  place.append(form, summary, h("div", { class: "graph" }, h("div", { class: "canvas" }, picture, legend), list));
  document.addEventListener("theme", () => current && !place.hidden && draw(current));
}

function submit() {
  go("graph", { symbol: input.value.trim(), hops: hops.value === "1" ? "" : hops.value });
}

export async function show(params) {
  const mine = ++turn;
  const asked = { symbol: params.symbol ?? "", path: params.path ?? "", line: Number(params.line) || 0, hops: Number(params.hops) || 1, limit: params.all ? MOST : FEWEST + 1 };
  input.value = asked.symbol || (asked.line ? `${asked.path}:${asked.line}` : asked.path);
  hops.value = String(asked.hops);
  if (!asked.symbol && !asked.path) {
    cancel("graph");
    blank(empty("The code graph around one symbol", "Give the name of a function, a class or a file; or press g on a result of a search."));
    input.focus({ preventScroll: true });
    return;
  }
  list.setAttribute("aria-busy", "true");
  try {
    const graph = await ask("graph", asked);
    cytoscape ??= (await import("./vendor/cytoscape.js")).default;
    if (mine === turn) { // Else the view shows something else by now.
      unfolded = new Set();
      draw(current = graph);
    }
  } catch (error) {
    if (!(error instanceof Outdated)) blank(failure(error));
  }
  list.removeAttribute("aria-busy");
}

function blank(element) {
  current = undefined;
  drawn?.destroy();
  drawn = undefined;
  summary.textContent = "";
  legend.replaceChildren();
  picture.parentElement.hidden = true;
  list.parentElement.classList.add("single");
  fill(list, element);
}

const nameOf = (node) => node.symbol || node.path.split("/").at(-1);
const labelOf = (node) => (nameOf(node).length > 30 ? `${nameOf(node).slice(0, 29)}…` : nameOf(node));
const key = (node) => (node.symbol ? { path: node.path, line: node.start_line, symbol: node.symbol } : { path: node.path });
const centre = (node) => go("graph", { ...key(node), hops: hops.value === "1" ? "" : hops.value });

function draw(graph) {
  picture.parentElement.hidden = false;
  list.parentElement.classList.remove("single");
  const start = graph.nodes[0];
  const guesses = graph.edges.filter((edge) => edge.is_guess).length;
  const others = graph.others.length ? ` · ${plural(graph.others.length, "other definition")} of that name` : "";
  summary.textContent = `${plural(graph.nodes.length - 1, "neighbour")}, ${plural(graph.edges.length, "relation")}` +
    (guesses ? `, ${plural(guesses, "guess", "guesses")}` : "") +
    (graph.hidden ? ` · the surest ${graph.nodes.length - 1} are shown, ${graph.hidden} more were found` : "") + others +
    (graph.stale.length ? ` · changed since it was indexed: ${graph.stale.join(", ")}` : "");
  drawPicture(graph);
  drawList(graph, start);
}

// ---------------------------------------------------------------- the list

function drawList(graph, start) {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const groups = new Map();
  const far = [];
  for (const edge of graph.edges) {
    const out = edge.source === start.id;
    if (!out && edge.target !== start.id) {
      far.push(edge);
      continue;
    }
    const title = PHRASES[edge.relation]?.[out ? 0 : 1] ?? edge.relation;
    if (!groups.has(title)) groups.set(title, []);
    groups.get(title).push([edge, byId.get(out ? edge.target : edge.source)]);
  }
  const sections = [...groups].map(([title, rows]) => [h("h3", {}, title, h("span", { class: "number" }, String(rows.length))), h("ul", { class: "places" }, rows.map(([edge, node]) => row(edge, node)))]);
  fill(list,
    h("div", { class: "centre" }, h("p", { class: "muted" }, start.kind), h("h2", {}, nameOf(start)), pathOf(start.path, start.symbol ? `:${start.start_line}–${start.end_line}` : ""),
      start.signature && h("p", { class: "signature" }, start.signature),
      h("p", {}, toSymbol({ path: start.path, symbol: start.symbol }, "Code, callers, tests and history")),
      graph.hidden > 0 && graph.nodes.length <= FEWEST + 1 && h("button", { type: "button", class: "button", onclick: () => go("graph", { ...key(start), hops: hops.value === "1" ? "" : hops.value, all: "1" }) }, "Show up to 40"),
      start.is_archived && badge("archived", "warn")),
    sections.length ? sections : empty("No relations", "Nothing in the index refers to it, and it refers to nothing in the index."),
    far.length > 0 && [h("h3", {}, "Farther away", h("span", { class: "number" }, String(far.length))), h("ul", { class: "places" }, far.map((edge) => between(edge, byId)))],
    graph.others.length > 0 && [h("h3", {}, "The same name elsewhere"), h("ul", { class: "places" }, graph.others.map((node) => h("li", {}, link(node))))]);
}

const link = (node) => h("button", { type: "button", class: "jump", onclick: () => centre(node) }, h("span", { class: "symbol" }, nameOf(node)), pathOf(node.path, node.symbol ? `:${node.start_line}` : ""));

const certainty = (edge) => h("p", { class: `muted${edge.is_guess ? " guess" : ""}` }, `${edge.certainty} · at ${edge.path.split("/").at(-1)}:${edge.line}`);

function row(edge, node) {
  return h("li", { class: `edge ${familyOf(edge.relation)}` }, link(node), certainty(edge));
}

function between(edge, byId) {
  const [source, target] = [byId.get(edge.source), byId.get(edge.target)];
  return h("li", { class: `edge ${familyOf(edge.relation)}` }, link(source), h("p", {}, h("em", {}, wordsOf(edge.relation)), ` ${nameOf(target)}`), certainty(edge));
}

// ---------------------------------------------------------------- the picture

// What leads to the start stands left of it, what it leads to stands right: a column for each hop.
function columnsOf(graph) {
  const side = new Map([[graph.start, 0]]);
  const hop = new Map(graph.nodes.map((node) => [node.id, node.hop]));
  const near = [...graph.edges].sort((a, b) => Math.min(hop.get(a.source), hop.get(a.target)) - Math.min(hop.get(b.source), hop.get(b.target)));
  for (const { source, target } of near) {
    if (side.has(source) && !side.has(target)) side.set(target, side.get(source) < 0 ? -hop.get(target) : hop.get(target));
    else if (side.has(target) && !side.has(source)) side.set(source, side.get(target) > 0 ? hop.get(source) : -hop.get(source));
  }
  const columns = new Map();
  for (const node of graph.nodes.slice(1)) {
    const at = side.get(node.id) ?? node.hop;
    columns.set(at, [...(columns.get(at) ?? []), node]);
  }
  return columns;
}

// The nodes of a column by their files. `at`: of the first row; `rows`: a title takes the room of half a row.
function filesOf(column, nodes, widths, isCrowded) {
  const byPath = new Map();
  for (const node of nodes) byPath.set(node.path, [...(byPath.get(node.path) ?? []), node]);
  return [...byPath].sort(([a], [b]) => a.localeCompare(b)).map(([path, members]) => {
    const id = `${column} ${path}`;
    const isFolded = isCrowded && members.length > FOLDED && !unfolded.has(id);
    const label = `${path.split("/").at(-1)}${isFolded ? ` · ${members.length}` : ""}`;
    const width = Math.max(widths.of(label), ...(isFolded ? [] : members.map((node) => widths.get(node.id))));
    return { id, label, width, isFolded, isBox: !isFolded && members.length > 1, nodes: members.sort((a, b) => a.start_line - b.start_line) };
  });
}

// Columns face the start: their nodes' near edges are in line, so that the lines fan out from there.
function positions(graph, widths) {
  const isCrowded = graph.nodes.length > FEWEST + 1;
  const columns = columnsOf(graph);
  const places = new Map([[String(graph.start), { x: 0, y: 0 }]]);
  const files = [];
  for (const direction of [-1, 1]) {
    let edge = widths.get(graph.start) / 2;
    const near = [...columns.keys()].filter((at) => Math.sign(at) === direction).sort((a, b) => Math.abs(a) - Math.abs(b));
    for (const at of near) {
      const parts = [[]];
      let rows = 0;
      for (const file of filesOf(at, columns.get(at), widths, isCrowded)) {
        rows += file.isFolded ? 1 : file.nodes.length;
        if (rows > TALLEST && parts.at(-1).length) parts.push([]), rows = file.isFolded ? 1 : file.nodes.length;
        parts.at(-1).push(file);
      }
      for (const part of parts) {
        edge += BETWEEN;
        let y = 0;
        const placed = [];
        for (const file of part) {
          if (file.isBox) y += TITLE;
          for (const id of file.isFolded ? [file.id] : file.nodes.map((node) => String(node.id))) {
            placed.push([id, { x: direction * (edge + (file.isFolded ? file.width : widths.get(Number(id))) / 2), y }]);
            y += ROW;
          }
        }
        for (const [id, place] of placed) places.set(id, { ...place, y: place.y - (y - ROW) / 2 });
        edge += Math.max(...part.map((file) => file.width));
        files.push(...part);
      }
    }
  }
  return { places, files };
}

// Beside the node that is not the start, where the lines are apart.
const labels = (selector) => [
  { selector: `${selector}.in`, style: { "source-label": "data(label)", "source-text-offset": 48 } },
  { selector: `${selector}.out`, style: { "target-label": "data(label)", "target-text-offset": 56 } },
];

// One line for all relations between the same two, named after the strongest. `shown`: what a node is folded into.
function lines(graph, places, shown) {
  const order = ["inherits", "tests", "calls", "uses", "links_to", "imports"];
  const pairs = new Map();
  for (const edge of graph.edges) {
    const [source, target] = [shown(edge.source), shown(edge.target)];
    const pair = `${source} ${target}`;
    if (source === target) continue;
    pairs.set(pair, [...(pairs.get(pair) ?? []), edge].sort((a, b) => order.indexOf(a.relation) - order.indexOf(b.relation)));
  }
  return [...pairs.values()].map((edges, place) => {
    const [{ relation }] = edges;
    const [source, target] = [shown(edges[0].source), shown(edges[0].target)];
    const apart = places.get(target).x - places.get(source).x;
    const across = Math.abs(apart) < BETWEEN ? 0 : Math.sign(apart);
    return {
      data: {
        id: `e${place}`, source, target, family: familyOf(relation),
        label: wordsOf(relation),
        width: 0.8 + 1.2 * Math.max(...edges.map((edge) => edge.confidence)),
      },
      classes: [edges.every((edge) => edge.is_guess) ? "guess" : "", ["left", "inside", "right"][across + 1], source === String(graph.start) ? "out" : "in"].join(" "),
    };
  });
}

function drawPicture(graph) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `600 13px ${style.fontFamily}`;
  const widths = new Map(graph.nodes.map((node) => [node.id, pen.measureText(labelOf(node)).width + 20]));
  widths.of = (label) => pen.measureText(label).width + 20;
  const { places, files } = positions(graph, widths);
  const folded = new Map(files.flatMap((file) => (file.isFolded ? file.nodes.map((node) => [node.id, file]) : [])));
  const boxed = new Map(files.flatMap((file) => (file.isBox ? file.nodes.map((node) => [node.id, file.id]) : [])));
  const edges = lines(graph, places, (id) => folded.get(id)?.id ?? String(id));
  const crowded = edges.length > 30;
  drawn?.destroy();
  drawn = cytoscape({
    container: picture,
    elements: [
      ...files.filter((file) => file.isBox || file.isFolded).map(({ id, label, width, isFolded }) => ({ data: { id, label, width }, position: places.get(id), classes: isFolded ? "folded" : "box" })),
      ...graph.nodes.filter((node) => !folded.has(node.id)).map((node) => {
        const classes = [node.id === graph.start ? "start" : "", node.symbol ? "" : "file", node.is_archived ? "archived" : ""].join(" ");
        return { data: { id: String(node.id), label: labelOf(node), width: widths.get(node.id), parent: boxed.get(node.id) }, position: places.get(String(node.id)), classes };
      }),
      ...edges,
    ],
    layout: { name: "preset" },
    minZoom: 0.25, maxZoom: 2.5, boxSelectionEnabled: false,
    style: [
      { selector: "node", style: { shape: "round-rectangle", width: "data(width)", height: 30, "background-color": colour("surface"), "border-width": 1.2, "border-color": colour("line-strong"), label: "data(label)", "text-valign": "center", "font-size": 13, "font-family": style.fontFamily, color: colour("text") } },
      { selector: "node.file", style: { "border-style": "dashed", color: colour("muted") } },
      { selector: "node.start", style: { "background-color": colour("accent"), "border-color": colour("accent"), color: colour("on-accent"), "font-weight": 600 } },
      { selector: "node.box", style: { "background-opacity": 0.35, "border-style": "dotted", "text-valign": "top", color: colour("muted"), padding: "5px" } },
      { selector: "node.folded", style: { "border-style": "double", "border-width": 3, color: colour("muted") } },
      { selector: "node.archived", style: { opacity: 0.65 } },
      { selector: "edge", style: { width: "data(width)", "target-arrow-shape": "triangle", "arrow-scale": 0.8, "curve-style": "straight", "font-size": 13, color: colour("muted"), "text-background-color": colour("back"), "text-background-opacity": 1, "text-background-padding": "2px", opacity: crowded ? 0.6 : 1 } },
      ...COLOURS.map((kind) => ({ selector: `edge[family = "${kind}"]`, style: { "line-color": colour(`edge-${kind}`), "target-arrow-color": colour(`edge-${kind}`) } })),
      { selector: "edge.right", style: { "source-endpoint": "50% 0%", "target-endpoint": "-50% 0%" } },
      { selector: "edge.left", style: { "source-endpoint": "-50% 0%", "target-endpoint": "50% 0%" } },
      { selector: "edge.inside", style: { "curve-style": "unbundled-bezier", "control-point-distances": 60, "control-point-weights": 0.5, "source-endpoint": "50% 0%", "target-endpoint": "50% 0%" } },
      ...(crowded ? [] : labels("edge")),
      ...labels("edge.near"),
      { selector: "edge.guess", style: { "line-style": "dashed", "line-dash-pattern": [5, 4] } },
      { selector: ".far", style: { opacity: 0.15 } },
      { selector: "edge.near", style: { opacity: 1, "z-index": 9 } },
      { selector: "node:active, edge:active", style: { "overlay-opacity": 0 } },
    ],
  });
  const byId = new Map(graph.nodes.map((node) => [String(node.id), node]));
  drawn.on("tap", "node", ({ target }) => {
    if (byId.has(target.id())) centre(byId.get(target.id()));
    else if (target.hasClass("folded")) {
      unfolded.add(target.id());
      drawPicture(graph);
    }
  });
  drawn.on("mouseover", "node", ({ target }) => {
    if (target.hasClass("box")) return;
    picture.style.cursor = "pointer";
    drawn.elements().not(target.closedNeighborhood()).not(target.closedNeighborhood().parents()).addClass("far");
    target.connectedEdges().addClass("near");
  });
  drawn.on("mouseout", "node", () => {
    picture.style.cursor = "";
    drawn.elements().removeClass("far near");
  });
  drawn.fit(undefined, 28);
  if (drawn.zoom() < 0.85) { // Smaller, nobody reads the labels: the rest is reached by dragging.
    drawn.zoom(0.85);
    drawn.center(drawn.getElementById(String(graph.start)));
  }
  if (drawn.zoom() > 1.1) {
    drawn.zoom(1.1);
    drawn.center();
  }
  const used = [...new Set(graph.edges.map((edge) => edge.relation))];
  fill(legend, used.map((kind) => h("li", { class: `edge ${familyOf(kind)}` }, h("span", { class: "stroke" }), wordsOf(kind))),
    graph.edges.some((edge) => edge.is_guess) && h("li", { class: "edge guess" }, h("span", { class: "stroke" }), "a guess"));
}
