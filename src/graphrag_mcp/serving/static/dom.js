// Builds elements. All data from the repository becomes text, never markup.

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else if (name === "checked") element.checked = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return element;
}

// Draws, and restores the focus to the element of the same id if it was recreated.
export function redraw(draw) {
  const focused = document.activeElement;
  draw();
  if (focused?.id && !focused.isConnected) document.getElementById(focused.id)?.focus();
}

export const count = (number) => number.toLocaleString("en");

export function plural(number, word, many = `${word}s`) {
  return `${count(number)} ${number === 1 ? word : many}`;
}

export function age(seconds, now = Date.now() / 1000) {
  if (seconds === null || seconds === undefined) return "age unknown";
  const days = Math.max(0, (now - seconds) / 86400);
  if (days < 1) return "today";
  if (days < 60) return plural(Math.floor(days), "day");
  if (days < 730) return plural(Math.round(days / 30.4), "month");
  return plural(Math.round(days / 365.25), "year");
}

export function bytes(number) {
  if (number < 1000) return `${number} B`;
  return number < 1e6 ? `${(number / 1000).toFixed(1)} kB` : `${(number / 1e6).toFixed(1)} MB`;
}

// A path with an emphasised file name; the folders are shortened when there is no room.
export function pathOf(path, lines = "") {
  const cut = path.lastIndexOf("/") + 1;
  return h("span", { class: "path", title: path + lines },
    h("span", { class: "folders" }, path.slice(0, cut)),
    h("span", { class: "file" }, path.slice(cut)),
    lines && h("span", { class: "lines" }, lines));
}

export const glass = () => h("img", { class: "glass", src: "/static/glass.svg", alt: "" });

export const badge = (text, kind = "", title = undefined) => h("span", { class: `badge ${kind}`, title }, text);

export function empty(title, text, ...actions) {
  return h("div", { class: "empty" }, h("h2", {}, title), h("p", {}, text), actions.length > 0 && h("p", {}, ...actions));
}

export function failure(error, again) {
  return h("div", { class: "empty failed", role: "alert" }, h("h2", {}, "Request failed"), h("p", {}, error.message),
    again && h("p", {}, h("button", { type: "button", class: "button", onclick: again }, "Try again")));
}

// Tabs whose panels are created when first shown.
export function tabs(label, names, selected, onselect) {
  const buttons = names.map(([id, title]) => h("button", {
    type: "button", role: "tab", id: `tab-${id}`, "aria-selected": String(id === selected),
    tabindex: id === selected ? 0 : -1, onclick: () => onselect(id),
  }, title));
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": label }, buttons);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = names.findIndex(([id]) => id === selected);
    const [next] = names[(at + step + names.length) % names.length];
    onselect(next);
    document.getElementById(`tab-${next}`).focus();
  });
  return list;
}
