// Starts the page: shows the view that the address names.

import { failure, fill } from "./dom.js";
import { startKeyboard } from "./keyboard.js";
import { read } from "./route.js";
import * as search from "./search.js";
import { startStatus } from "./status.js";

const views = {
  search: async () => search,
  grep: () => import("./grep.js"),
  symbol: () => import("./symbol.js"),
  flow: () => import("./flow.js"),
  impact: () => import("./impact.js"),
  graph: () => import("./graph.js"),
  index: () => import("./browse.js"),
  file: () => import("./file.js"),
};
const started = new Set();

// The token has done its work: what follows is let in by a cookie that no script can read.
history.replaceState(null, "", location.pathname + location.hash);

async function show() {
  const { view, params } = read();
  const name = Object.hasOwn(views, view) ? view : "search";
  for (const link of document.querySelectorAll("nav [data-view]")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const other of Object.keys(views)) document.getElementById(`view-${other}`).hidden = other !== name;
  document.title = `${name[0].toUpperCase()}${name.slice(1)} · graphrag`;
  const place = document.getElementById(`view-${name}`);
  let module;
  try {
    module = await views[name]();
  } catch {
    const why = new Error("A script of this view could not be loaded; if the command that serves this page has ended, start graphrag-mcp ui again.");
    fill(place, failure(why, () => location.reload()));
    return;
  }
  if (!started.has(name)) {
    started.add(name);
    module.start(fill(place));
  }
  if (document.getElementById(`view-${name}`).hidden) return; // Left while its script was on the way.
  await module.show(params);
}

addEventListener("hashchange", show);
startStatus();
startKeyboard();
show();
