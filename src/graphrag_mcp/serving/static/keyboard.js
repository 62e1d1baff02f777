// The keys that work everywhere.

import * as search from "./search.js";
import { editor } from "./places.js";
import { go, read } from "./route.js";

const VIEWS = ["search", "grep", "symbol", "flow", "impact", "graph", "index"];

export function startKeyboard() {
  const keys = document.getElementById("keys");
  document.getElementById("help").addEventListener("click", () => keys.showModal());
  const field = document.getElementById("editor");
  field.value = editor.get();
  field.addEventListener("change", () => editor.set(field.value.trim()));
  document.getElementById("keys-close").addEventListener("click", () => keys.close());
  document.getElementById("theme").addEventListener("click", () => window.toggleTheme());
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // What stands behind # says which view is shown.
    document.getElementById("main").focus();
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    if (act(event, keys)) event.preventDefault();
  });
}

// Return whether the key was one of ours.
function act(event, keys) {
  const { key, target } = event;
  const types = target.matches("input:not([type=checkbox]), select");
  const searching = read().view === "search";
  if (key === "Escape") return close(target, searching);
  if (searching && ["ArrowDown", "ArrowUp"].includes(key) && (target.id === "query" || !types)) {
    return !target.closest("[role=tablist], .detail") && search.move(key === "ArrowDown" ? 1 : -1);
  }
  if (searching && key === "Enter" && (target.id === "query" || target.closest("[role=listbox]"))) {
    search.open();
    return true;
  }
  if (types) return false;
  if (key === "/") {
    if (!searching) go("search");
    search.focus();
    return true;
  }
  if (key === "?") keys.showModal();
  else if (key === "t") window.toggleTheme();
  else if (searching && (key === "j" || key === "k")) return search.move(key === "j" ? 1 : -1);
  else if (key === "g" && searching) return search.showGraph();
  else if (key === "s" && searching) return search.showSymbol();
  else if (VIEWS[Number(key) - 1]) document.querySelector(`nav [data-view=${VIEWS[Number(key) - 1]}]`).click();
  else return false;
  return true;
}

function close(target, searching) {
  if (searching && search.close()) return true;
  if (target.matches("input, select")) target.blur();
  return true;
}
