// The form of a search tool's arguments, made from the tool's own schema.

import { project } from "./api.js";
import { h } from "./dom.js";

const ELSEWHERE = new Set(["query", "response_format", "token_budget", "cursor", "have", "limit", "top_n"]);
const TOOLS = {
  graphrag_hybrid_search: "Hybrid search",
  query_documents: "Passages",
  query_unique_documents: "One passage a file",
};
const NAMES = {
  queries: "Other phrasings", paths: "Folders or globs", excluded_files: "Files to leave out", categories: "Kinds of file", languages: "Languages",
  include_patterns: "Archived files to include", include_graph_context: "Related code", max_hops: "Steps in the code graph",
  use_rrf: "Words and meaning together", rerank_with_recency: "Recent files first", min_score: "Least score",
};
const words = (name) => NAMES[name] ?? `${name[0].toUpperCase()}${name.slice(1)}`.replaceAll("_", " ");

// Reads and writes the arguments as texts, which is what an address holds.
export class Filters {
  constructor(onchange) {
    this.onchange = onchange;
    this.values = {};
    this.tool = "graphrag_hybrid_search";
    this.tools = {};
    this.select = h("select", { id: "tool", "aria-label": "Tool", onchange: () => this.changeTool(this.select.value) });
    this.archived = h("input", { type: "checkbox", id: "archived", onchange: () => this.put("exclude_archived", String(!this.archived.checked)) });
    this.badge = h("span", { class: "number", hidden: true });
    this.button = h("button", { type: "button", class: "button", "aria-expanded": "false", "aria-controls": "filters", onclick: () => this.toggle() }, "Filters", this.badge);
    this.panel = h("div", { id: "filters", class: "filters", hidden: true });
    this.row = h("div", { class: "options" }, this.select, h("label", { class: "check" }, this.archived, "Archived too"), this.button);
  }

  async load() {
    this.tools = (await project()).tools;
    this.select.replaceChildren(...Object.keys(this.tools).map((tool) => h("option", { value: tool }, TOOLS[tool] ?? tool)));
    this.draw();
  }

  set(params) {
    this.tool = Object.hasOwn(this.tools, params.tool) ? params.tool : "graphrag_hybrid_search";
    const known = this.tools[this.tool];
    this.values = Object.fromEntries(Object.entries(params).filter(([name]) => Object.hasOwn(known, name) && !ELSEWHERE.has(name)));
    this.draw();
  }

  // For the address.
  params() {
    return { tool: this.tool === "graphrag_hybrid_search" ? "" : this.tool, ...this.values };
  }

  // For the tool.
  arguments() {
    const known = this.tools[this.tool];
    return Object.fromEntries(Object.entries(this.values).map(([name, text]) => [name, parse(text, known[name])]));
  }

  toggle(open = this.panel.hidden) {
    this.panel.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open) this.panel.querySelector("input, select")?.focus();
    return open;
  }

  put(name, text) {
    if (text === "" || text === asText(this.tools[this.tool][name].default)) delete this.values[name];
    else this.values[name] = text;
    this.drawBadge();
    this.onchange();
  }

  changeTool(tool) {
    this.set({ ...this.values, tool });
    this.onchange();
  }

  draw() {
    this.select.value = this.tool;
    const known = this.tools[this.tool];
    this.archived.checked = (this.values.exclude_archived ?? asText(known.exclude_archived.default)) === "false";
    const names = Object.keys(known).filter((name) => !ELSEWHERE.has(name) && name !== "exclude_archived");
    this.panel.replaceChildren(...names.map((name) => this.field(name, known[name])));
    this.drawBadge();
  }

  drawBadge() {
    const number = Object.keys(this.values).filter((name) => name !== "exclude_archived").length;
    this.badge.textContent = String(number);
    this.badge.hidden = number === 0;
  }

  field(name, schema) {
    const id = `filter-${name}`;
    const now = this.values[name] ?? asText(schema.default);
    const hint = h("p", { class: "hint", id: `${id}-hint` }, schema.description);
    if (schema.type === "array" && schema.items.enum) return this.choices(name, schema, now, hint);
    if (schema.type === "boolean") {
      const box = h("input", { type: "checkbox", id, "aria-describedby": `${id}-hint`, checked: now === "true", onchange: () => this.put(name, String(box.checked)) });
      return h("div", { class: "field" }, h("label", { class: "check", for: id }, box, words(name)), hint);
    }
    const limits = schema.anyOf?.[0] ?? schema;
    const isList = schema.type === "array";
    const input = h("input", {
      id, type: isList ? "text" : "number", min: limits.minimum, max: limits.maximum, value: now, spellcheck: "false",
      step: limits.type === "number" ? "0.05" : undefined, "aria-describedby": `${id}-hint`,
      placeholder: isList ? "several with commas" : "", onchange: () => this.put(name, input.value.trim()),
    });
    return h("div", { class: "field" }, h("label", { for: id }, words(name)), input, hint);
  }

  choices(name, schema, now, hint) {
    const chosen = new Set(now.split(",").filter(Boolean));
    const boxes = schema.items.enum.map((value) => {
      const box = h("input", {
        type: "checkbox", checked: chosen.has(value), onchange: () => {
          if (box.checked) chosen.add(value);
          else chosen.delete(value);
          this.put(name, [...chosen].join(","));
        },
      });
      return h("label", { class: "chip" }, box, h("span", {}, value));
    });
    return h("fieldset", { class: "field wide" }, h("legend", {}, words(name)), h("div", { class: "chips" }, boxes), hint);
  }
}

function asText(value) {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join(",") : String(value);
}

function parse(text, schema) {
  if (schema.type === "array") return text.split(",").map((one) => one.trim()).filter(Boolean);
  if (schema.type === "boolean") return text === "true";
  return Number.isNaN(Number(text)) ? text : Number(text);
}
