// The compare view: one query, two sets of ranking settings, and what moved.

import { Outdated, ask, cancel, project } from "./api.js";
import { badge, empty, failure, fill, glass, h, pathOf, redraw } from "./dom.js";
import { remember } from "./route.js";

const SIDES = ["left", "right"];
const TITLES = { left: "A", right: "B" };

let input, columns, outcome, note, form, presets;
let changes = { left: {}, right: {} };
let timer;

export function start(place) {
  input = h("input", { id: "compared", type: "search", "aria-label": "Query", autocomplete: "off", spellcheck: "false", placeholder: "The query for both sides", oninput: soon });
  note = h("p", { class: "note", role: "status" });
  columns = h("div", { class: "sides" });
  outcome = h("div", { class: "sides outcome" });
  place.append(h("div", { class: "ask" }, h("div", { class: "query" }, glass(), input)), columns, note, outcome);
}

export async function show(params) {
  input.value = params.q ?? ""; // Before anything is waited for: what is typed meanwhile stays.
  for (const side of SIDES) changes[side] = parse(params[side]);
  try {
    ({ settings: form, presets } = await project());
    drawSides();
    await run();
  } catch (error) {
    fill(outcome, failure(error, () => show(params)));
  }
}

function parse(text) {
  try {
    const values = JSON.parse(text ?? "{}");
    return values && typeof values === "object" ? values : {};
  } catch {
    return {};
  }
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(run, 250);
}

function change(side, name, value) {
  const isShown = name in changes[side] && value !== undefined; // Its field says the value already.
  if (value === undefined) delete changes[side][name];
  else changes[side][name] = value;
  if (!isShown) drawSides();
  run();
}

// ---------------------------------------------------------------- the settings of one side

function drawSides() {
  fill(columns, SIDES.map((side) => {
    const changed = Object.keys(changes[side]);
    return h("section", { class: "side", "aria-label": `Settings ${TITLES[side]}` },
      h("div", { class: "side-head" }, h("h2", {}, TITLES[side]), changed.length ? null : h("span", { class: "muted" }, "project settings"), preset(side), adder(side)),
      changed.length > 0 && h("ul", { class: "changes" }, changed.map((name) => h("li", {}, editor(side, name)))));
  }));
}

function preset(side) {
  const select = h("select", { "aria-label": `Take a part of the ranking out of ${TITLES[side]}`, id: `${side}-preset`, onchange: () => { changes[side] = { ...presets[select.value] }; redraw(drawSides); run(); } },
    h("option", { value: "" }, "Without …"), Object.keys(presets).map((name) => h("option", { value: name }, name)));
  return select;
}

function adder(side) {
  const groups = new Map();
  for (const one of form) {
    if (one.name in changes[side]) continue;
    if (!groups.has(one.group)) groups.set(one.group, []);
    groups.get(one.group).push(one);
  }
  const select = h("select", { id: `${side}-adder`, "aria-label": `Change a setting of ${TITLES[side]}`, onchange: () => {
    const chosen = form.find((one) => one.name === select.value);
    if (chosen) change(side, chosen.name, first(chosen));
    document.getElementById(`${side}-${chosen?.name}`)?.focus();
  } }, h("option", { value: "" }, "Change a setting …"),
  [...groups].map(([group, fields]) => h("optgroup", { label: group }, fields.map((one) => h("option", { value: one.name, title: one.meaning }, one.name)))));
  return select;
}

// A value to begin with that differs from what it is, where there are few.
function first(setting) {
  if (setting.kind === "boolean") return !setting.value;
  if (setting.kind === "choice") return setting.choices.find((one) => one !== setting.value) ?? setting.value;
  return setting.value;
}

function editor(side, name) {
  const setting = form.find((one) => one.name === name);
  const value = changes[side][name];
  const id = `${side}-${name}`;
  const common = { id, "aria-describedby": `${id}-meaning` };
  let field;
  if (!setting) field = h("input", { ...common, value: JSON.stringify(value), disabled: true });
  else if (setting.kind === "boolean" || setting.kind === "choice") {
    const options = setting.kind === "boolean" ? ["true", "false"] : setting.choices;
    field = h("select", { ...common, onchange: () => change(side, name, setting.kind === "boolean" ? field.value === "true" : field.value) }, options.map((one) => h("option", { value: one }, one)));
    field.value = String(value);
  } else if (setting.kind === "number" || setting.kind === "integer") {
    field = h("input", { ...common, type: "number", value: value ?? "", min: setting.minimum, max: setting.maximum, step: setting.kind === "integer" ? 1 : "any", onchange: () => change(side, name, field.value === "" ? null : Number(field.value)) });
  } else {
    field = h("input", { ...common, type: "text", spellcheck: "false", value: JSON.stringify(value), onchange: () => change(side, name, read(field.value)) });
  }
  return [h("label", { for: id }, name), field,
    h("button", { type: "button", class: "icon", "aria-label": `Leave ${name} as it is`, onclick: () => { change(side, name, undefined); document.getElementById(`${side}-adder`).focus(); } }, "✕"),
    h("p", { class: "hint", id: `${id}-meaning` }, setting ? `${setting.meaning} · now ${JSON.stringify(setting.value)}${range(setting)}` : "not a setting")];
}

function range(setting) {
  const least = setting.minimum ?? setting.exclusiveMinimum;
  if (least === undefined) return "";
  return setting.maximum === undefined ? `, ${least} or more` : `, ${least} to ${setting.maximum}`;
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// ---------------------------------------------------------------- the two lists

async function run() {
  clearTimeout(timer);
  const query = input.value.trim();
  const kept = Object.fromEntries(SIDES.map((side) => [side, Object.keys(changes[side]).length ? JSON.stringify(changes[side]) : ""]));
  remember("compare", { q: query, ...kept });
  if (query.length < 3) {
    cancel("compare");
    outcome.removeAttribute("aria-busy");
    note.textContent = "";
    fill(outcome, empty("What would another setting do?", "Type a query, then change a setting of B: both lists appear side by side, with what moved. Nothing is saved."));
    return;
  }
  outcome.setAttribute("aria-busy", "true");
  try {
    const answer = await ask("compare", { arguments: { query, limit: 15 }, ...changes });
    draw(answer);
  } catch (error) {
    if (error instanceof Outdated) return;
    note.textContent = "";
    fill(outcome, failure(error));
  }
  outcome.removeAttribute("aria-busy");
}

function draw({ results, moves, gone }) {
  const fresh = moves.filter((move) => move.before === null).length;
  const moved = moves.filter((move) => move.before !== null && move.before !== move.now).length;
  const same = !fresh && !moved && !gone.length;
  note.textContent = same ? "Both lists are the same." : `${moved} moved, ${fresh} new, ${gone.length} gone`;
  fill(outcome, SIDES.map((side, place) => h("section", { "aria-label": `Results of ${TITLES[side]}` },
    h("ol", { class: "compared" }, results[place].primary.map((hit, at) => row(hit, at, place === 0 ? before(at + 1, gone) : after(moves[at])))),
    results[place].primary.length === 0 && h("p", { class: "muted" }, "Nothing found with these settings."))));
}

const before = (place, gone) => (gone.includes(place) ? badge("gone", "gone") : null);

function after({ now, before: was }) {
  if (was === null) return badge("new", "new");
  if (was === now) return h("span", { class: "move", "aria-label": "same place" }, "=");
  const up = was > now;
  return h("span", { class: `move ${up ? "up" : "down"}`, "aria-label": `${up ? "up" : "down"} ${Math.abs(was - now)}` }, `${up ? "▲" : "▼"} ${Math.abs(was - now)}`);
}

function row(hit, at, move) {
  return h("li", {}, h("span", { class: "place" }, String(at + 1)),
    h("div", {}, pathOf(hit.path, `:${hit.start_line}–${hit.end_line}`), h("p", { class: "muted" }, hit.symbol && h("span", { class: "symbol" }, hit.symbol), hit.why)),
    h("span", { class: "score" }, hit.score.toFixed(2)), h("span", { class: "moved" }, move));
}
