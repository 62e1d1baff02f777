// The address contains the state of the view: #/search?q=...

export function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: path || "search", params: Object.fromEntries(new URLSearchParams(query)) };
}

export function address(view, params = {}) {
  const kept = Object.entries(params).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  const query = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

// Store without a step in the history, for example while the user types. A view that was left does nothing.
export function remember(view, params) {
  if (read().view === view) history.replaceState(null, "", address(view, params));
}

export function go(view, params) {
  const wanted = address(view, params);
  if (location.hash === wanted) dispatchEvent(new Event("hashchange")); // Requested again: it may have failed.
  else location.hash = wanted;
}
