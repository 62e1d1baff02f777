// The recency view: folders and files as tiles, as large as their share of the index, coloured by age.

import { Outdated, ask, project } from "./api.js";
import { age, empty, failure, fill, h, plural } from "./dom.js";
import { address } from "./route.js";

const HEADING = 22;
const GAP = 2;

let crumbs, legend, map, text, tree, days, observer;

export function start(place) {
  crumbs = h("nav", { class: "crumbs", "aria-label": "Folder" });
  legend = h("ul", { class: "legend ages", "aria-label": "Ages" });
  map = h("div", { class: "map" });
  text = h("details", { class: "as-table" });
  place.append(h("div", { class: "recency-head" }, crumbs, legend), map, text);
  observer = new ResizeObserver(() => tree && drawMap());
  observer.observe(map);
}

export async function show(params) {
  try {
    days ??= (await project()).days;
    tree = await ask("ages", { folder: params.folder ?? "" });
    drawCrumbs();
    drawLegend();
    drawMap();
    drawTable();
  } catch (error) {
    if (!(error instanceof Outdated)) fill(map, failure(error));
  }
}

const tier = (tile) => {
  if (tile.modified_at === null) return 4;
  const old = (tree.now - tile.modified_at) / 86400;
  const at = [...days, 730].findIndex((limit) => old < limit);
  return at < 0 ? 4 : at;
};

function drawCrumbs() {
  const parts = tree.folder ? tree.folder.split("/") : [];
  fill(crumbs, h("a", { href: address("recency"), "aria-current": parts.length ? undefined : "page" }, "All files"),
    parts.map((part, place) => [h("span", { "aria-hidden": "true" }, "/"), h("a", { href: address("recency", { folder: parts.slice(0, place + 1).join("/") }), "aria-current": place === parts.length - 1 ? "page" : undefined }, part)]),
    h("span", { class: "muted" }, plural(tree.files, "file")));
}

function drawLegend() {
  const [fresh, recent, old] = days;
  const names = [`under ${fresh} days`, `${recent} days`, `${old} days`, "2 years", "older"];
  fill(legend, names.map((name, place) => h("li", {}, h("span", { class: `swatch age${place}` }), name)), h("li", {}, h("span", { class: "swatch age2 archived" }), "archived"));
}

// ---------------------------------------------------------------- tiles

// Squarified treemap (Bruls, Huizing, van Wijk, 2000): rows are filled while their tiles grow less oblong.
function squarify(tiles, x, y, width, height) {
  const sum = tiles.reduce((all, tile) => all + tile.chunks, 0);
  if (!sum || width <= 0 || height <= 0) return [];
  const scale = (width * height) / sum;
  const places = [];
  let rest = tiles.filter((tile) => tile.chunks > 0);
  while (rest.length) {
    const side = Math.min(width, height);
    let row = 1;
    while (row < rest.length && worst(rest.slice(0, row + 1), side, scale) <= worst(rest.slice(0, row), side, scale)) row += 1;
    const part = rest.slice(0, row);
    const thick = (part.reduce((all, tile) => all + tile.chunks, 0) * scale) / side;
    let along = 0;
    for (const tile of part) {
      const long = (tile.chunks * scale) / thick;
      places.push(width >= height ? [tile, x, y + along, thick, long] : [tile, x + along, y, long, thick]);
      along += long;
    }
    if (width >= height) [x, width] = [x + thick, width - thick];
    else [y, height] = [y + thick, height - thick];
    rest = rest.slice(row);
  }
  return places;
}

function worst(row, side, scale) {
  const areas = row.map((tile) => tile.chunks * scale);
  const sum = areas.reduce((all, one) => all + one, 0);
  return Math.max((side ** 2 * Math.max(...areas)) / sum ** 2, sum ** 2 / (side ** 2 * Math.min(...areas)));
}

function drawMap() {
  const { clientWidth: width, clientHeight: height } = map;
  if (!tree.tiles.length) {
    fill(map, empty("Nothing here", "No indexed file lies in this folder.", h("a", { class: "button", href: "#/recency" }, "All files")));
    return;
  }
  fill(map, squarify(tree.tiles, 0, 0, width, height).map(([tile, ...place]) => block(tile, place)));
}

const say = (tile) => `${tile.path || tile.name}, ${tile.is_file ? "file" : plural(tile.files, "file")}, ${plural(tile.chunks, "chunk")}, changed ${ago(tile)}${tile.archived ? `, ${tile.archived === tile.files ? "" : `${tile.archived} `}archived` : ""}`;

function ago(tile) {
  const words = age(tile.modified_at, tree.now);
  return /\d/.test(words) ? `${words} ago` : words;
}

function block(tile, place) {
  const inner = tile.tiles ?? [];
  if (!inner.length) return at(leaf(tile, place), place);
  const [, , width, height] = place;
  const group = at(h("div", { class: "group" }), place);
  const hasHeading = width > 70 && height > 60;
  if (hasHeading) group.append(h("a", { class: "heading", href: address("recency", { folder: tile.path }), title: say(tile) }, `${tile.name}/`));
  const top = hasHeading ? HEADING : 0;
  for (const [one, ...inside] of squarify(inner, 0, top, width - 2 * GAP, height - top - 2 * GAP)) group.append(at(leaf(one, inside), inside));
  return group;
}

function leaf(tile, [, , width, height]) {
  const open = !tile.is_file && tile.path;
  const kind = `tile age${tier(tile)}${tile.archived * 2 > tile.files ? " archived" : ""}`;
  const label = width > 46 && height > 20 ? h("span", {}, tile.name + (tile.is_file || !tile.path ? "" : "/")) : null;
  const props = { class: kind, title: say(tile), "aria-label": say(tile) };
  if (open) return h("a", { ...props, href: address("recency", { folder: tile.path }) }, label);
  return tile.path ? h("a", { ...props, href: address("graph", { path: tile.path }) }, label) : h("span", { ...props, role: "img" }, label);
}

function at(element, [x, y, width, height]) {
  Object.assign(element.style, { left: `${x}px`, top: `${y}px`, width: `${Math.max(1, width - GAP)}px`, height: `${Math.max(1, height - GAP)}px` });
  return element;
}

// ---------------------------------------------------------------- as text

function drawTable() {
  fill(text, h("summary", {}, "The same as a table"), h("table", { class: "terms" },
    h("thead", {}, h("tr", {}, ["Name", "Files", "Chunks", "Changed", "Archived"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, tree.tiles.map((tile) => h("tr", {},
      h("th", { scope: "row" }, tile.is_file || !tile.path ? tile.name : h("a", { href: address("recency", { folder: tile.path }) }, `${tile.name}/`)),
      h("td", { class: "n" }, String(tile.files)), h("td", { class: "n" }, String(tile.chunks)), h("td", {}, ago(tile)), h("td", { class: "n" }, String(tile.archived)))))));
}

