// The index view: totals, every indexed file, and what was left out and why.

import { Outdated, ask } from "./api.js";
import { age, bytes, count, failure, fill, h, plural, redraw, tabs } from "./dom.js";
import { go } from "./route.js";

const PAGE = 50;
const COLUMNS = [
  { title: "Path", field: "path", widthGrow: 5, minWidth: 220 },
  { title: "Language", field: "language", widthGrow: 1, minWidth: 118 },
  { title: "Kind", field: "category", widthGrow: 1, minWidth: 120 },
  { title: "Chunks", field: "chunks", hozAlign: "right", width: 104 },
  { title: "Symbols", field: "symbols", hozAlign: "right", width: 112 },
  { title: "Size", field: "size", hozAlign: "right", width: 100, show: bytes },
  { title: "Changed", field: "modified_at", width: 122, show: (value) => age(value && Date.parse(value) / 1000) },
  { title: "Archived", field: "archived", widthGrow: 2, minWidth: 110 },
];
const SKIPPED = [{ title: "Path", field: "path", widthGrow: 3, minWidth: 240, headerSort: false }, { title: "Why it was left out", field: "reason", widthGrow: 2, minWidth: 180, headerSort: false }];

let totals, bar, panel, text, choices, holder, total, table, shown, params, status, styled, timer = 0, turn = 0;

export function start(place) {
  totals = h("dl", { class: "totals" });
  bar = h("div", {});
  text = h("input", { type: "search", "aria-label": "Part of the path", placeholder: "Part of the path", spellcheck: "false", oninput: typed });
  choices = h("div", { class: "choices" });
  total = h("p", { class: "note", role: "status" });
  holder = h("div", { class: "table" });
  panel = h("div", { role: "tabpanel" }, h("div", { class: "controls" }, text, choices), total, holder);
  place.append(totals, bar, panel);
  styled = Promise.all(["vendor/tabulator.css", "table.css"].map(style));
}

function style(name) {
  return new Promise((loaded) => document.head.append(h("link", { rel: "stylesheet", href: `/static/${name}`, onload: loaded, onerror: loaded })));
}

export async function show(given) {
  const changed = JSON.stringify(given) !== JSON.stringify(params);
  params = given;
  const mine = ++turn;
  try {
    status = await ask("status");
    drawTotals();
    if (changed || !table) {
      redraw(drawControls);
      await drawTable(mine);
    }
  } catch (error) {
    failed(error);
  }
}

function failed(error) {
  if (error instanceof Outdated) return;
  table?.destroy();
  table = undefined; // So that a retry draws it.
  total.textContent = "";
  fill(holder, failure(error, () => show(params)));
}

function drawTotals() {
  const left = Object.values(status.skipped).reduce((sum, one) => sum + one, 0);
  fill(totals, [
    ["Files", count(status.files)], ["Chunks", count(status.chunks)], ["Symbols", count(status.symbols)], ["Relations", count(status.relations)],
    ["Archived", count(status.archived_files)], ["Left out", count(left)], ["Index file", bytes(status.index_bytes)],
    ["Indexed", status.last_indexed ? age(Date.parse(status.last_indexed) / 1000) : "not yet"],
  ].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

const isSkipped = () => params.show === "skipped";
const put = (name, value) => go("index", { ...params, [name]: value });

function typed() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    timer = 0;
    put("text", text.value.trim());
  }, 200);
}

function drawControls() {
  shown = isSkipped() ? "skipped" : "files";
  fill(bar, tabs("What to list", [["files", "Indexed files"], ["skipped", "Left out"]], shown, (id) => go("index", id === "skipped" ? { show: id } : {})));
  panel.setAttribute("aria-labelledby", `tab-${shown}`);
  if (!timer && text.value.trim() !== (params.text ?? "")) text.value = params.text ?? ""; // Otherwise the user is typing.
  const choice = (name, label, options) => {
    const select = h("select", { id: `choice-${name}`, "aria-label": label, onchange: () => put(name, select.value) }, h("option", { value: "" }, label), options.map(([value, title]) => h("option", { value }, title)));
    select.value = params[name] ?? "";
    return select;
  };
  const counted = (counts) => Object.entries(counts).filter(([name]) => name).map(([name, number]) => [name, `${name} (${count(number)})`]);
  fill(choices, isSkipped() ? choice("reason", "Every reason", counted(status.skipped)) : [
    choice("language", "Every language", counted(status.languages)), choice("category", "Every kind", counted(status.categories)),
    choice("archived", "Active and archived", [["active", "Active only"], ["archived", "Archived only"]])]);
}

async function drawTable(mine) {
  const [{ TabulatorFull }] = await Promise.all([import("./vendor/tabulator.js"), styled]);
  if (mine !== turn) return;
  table?.destroy();
  const place = h("div", { class: "building" });
  const pages = h("div", { class: "tabulator pages", role: "group", "aria-label": "Pages" });
  holder.replaceChildren(place, pages);
  table = new TabulatorFull(place, {
    layout: "fitColumns",
    placeholder: isSkipped() ? "Nothing that matches was left out." : "No indexed file matches. Look at what was left out.",
    columns: (isSkipped() ? SKIPPED : COLUMNS).map(({ show: words, ...column }) => ({ ...column, headerHozAlign: column.hozAlign ?? "left", resizable: false, headerSortTristate: false, formatter: (cell) => plain(cell, words) })),
    pagination: true, paginationMode: "remote", paginationSize: PAGE, sortMode: "remote", paginationButtonCount: 3,
    paginationElement: pages, // Outside: a grid may contain only rows.
    initialSort: isSkipped() ? [] : [{ column: "path", dir: "asc" }],
    dataLoader: false,
    ajaxURL: "asked-below",
    ajaxRequestFunc: async (_url, _config, { page, sort = [] }) => {
      try {
        const answer = await load(page, sort[0]);
        if (place.isConnected) return laidOut(answer);
      } catch (error) {
        if (place.isConnected) failed(error);
      }
      return new Promise(() => {}); // The grid would only show "Error", and throw if the view was left meanwhile.
    },
  });
  table.on("tableBuilt", () => {
    nameParts(place);
    place.classList.remove("building");
  });
}

// ARIA allows no element between a grid and its row group, so Tabulator's scrolled element becomes the group.
function nameParts(place) {
  place.removeAttribute("aria-owns");
  place.setAttribute("aria-label", isSkipped() ? "Left out" : "Indexed files");
  place.querySelector(".tabulator-table").setAttribute("role", "none");
  place.querySelector(".tabulator-tableholder").setAttribute("role", "rowgroup");
}

// As a node, so that a file's name can never be markup.
function plain(cell, words) {
  const value = cell.getValue();
  return h("span", { title: String(value ?? "") }, words ? words(value) : typeof value === "number" ? count(value) : value || "–");
}

function load(page, sort) {
  const values = { text: params.text ?? "", page, size: PAGE };
  return isSkipped()
    ? ask("skipped", { ...values, reason: params.reason ?? "" })
    : ask("files", { ...values, language: params.language ?? "", category: params.category ?? "", archived: params.archived || "all", order: sort?.field ?? "path", descending: sort?.dir === "desc" });
}

function laidOut(answer) {
  total.textContent = plural(answer.total, isSkipped() ? "path" : "file");
  return { data: answer.rows, last_page: Math.max(1, Math.ceil(answer.total / PAGE)) };
}
