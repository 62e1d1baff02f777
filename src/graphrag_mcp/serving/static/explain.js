// One result in full: its code, the terms of its score, its neighbourhood, and the text an agent gets.

import { Outdated, ask } from "./api.js";
import { code, wordsOf } from "./code.js";
import { badge, count, empty, failure, fill, h, pathOf, plural, redraw, tabs } from "./dom.js";
import { actions, toFile, toSymbol } from "./places.js";

const TABS = [["code", "Code"], ["score", "Score"], ["related", "Related"], ["run", "Run"], ["agent", "As the agent sees it"]];
const MEANINGS = {
  definition: "Defines the symbol named in the query",
  relation: "Has the relation that the query asks for",
  stem: "File name matches query terms",
  directory: "Folder names match query terms",
  coherence: "Many matching chunks in the file",
  votes: "The best candidates use its definitions",
  wording: "Has the question's own words",
  path: "Path in the query",
  fact: "A question about a fact: the document that matches best has the third place",
  "order in file": "Place in its file by what its best definition does; the file's places stay",
  recency: "Age of the last change",
  saturation: "A further result of the same file",
  archive: "Archived",
  status: "Status that the document states",
  standing: "The document's priority",
  backlinks: "Files that link to this one",
  source: "Found by the graph, or first in the vector list",
};

export class Detail {
  constructor({ onclose, ongraph, ontab }) {
    this.tab = "code";
    this.ontab = ontab;
    this.head = h("div", { class: "head" });
    this.bar = h("div", {});
    this.body = h("div", { class: "body", role: "tabpanel", "aria-label": "Result" });
    this.onclose = onclose;
    this.ongraph = ongraph;
    this.element = h("aside", { class: "detail", tabindex: -1, "aria-label": "The chosen result", hidden: true }, this.head, this.bar, this.body);
  }

  focus() {
    this.element.focus();
  }

  show(result, place, call) {
    Object.assign(this, { result, call, hit: result.primary[place] });
    const { hit } = this;
    fill(this.head,
      h("div", { class: "title" }, h("h2", {}, pathOf(hit.path, `:${hit.start_line}–${hit.end_line}`)),
        h("button", { type: "button", class: "icon close", "aria-label": "Back to the results", onclick: () => this.onclose() }, "✕")),
      h("div", { class: "facts" },
        hit.symbol ? toSymbol(hit) : h("span", { class: "symbol" }, hit.kind), badge(hit.language || "text"), badge(hit.category),
        hit.is_archived && badge("archived", "warn"), hit.stale && badge("stale", "warn"), hit.status && badge(hit.status),
        toFile(hit.path, hit.start_line, "File"), actions(hit.path, hit.start_line),
        h("button", { type: "button", class: "link", onclick: () => this.ongraph() }, "Graph ", h("kbd", {}, "g"))));
    this.draw();
  }

  choose(tab) {
    this.tab = tab;
    this.draw();
    this.ontab();
  }

  draw() {
    if (!TABS.some(([id]) => id === this.tab)) this.tab = "code";
    redraw(() => fill(this.bar, tabs("About the result", TABS, this.tab, (tab) => this.choose(tab))));
    this.body.scrollTop = 0;
    const panels = { code: () => this.code(), score: () => score(this.hit), related: () => this.related(), run: () => run(this.result), agent: () => this.agent() };
    fill(this.body, panels[this.tab]());
  }

  code() {
    const { hit } = this;
    return [
      hit.stale && h("p", { class: "notice" }, `Stale: ${hit.stale}`),
      hit.is_archived && h("p", { class: "notice" }, `Archived: ${hit.archive_reason}`),
      h("p", { class: "why" }, hit.why || "Named by the query"),
      code(hit.text, hit.start_line, wordsOf(this.call.arguments.query), { label: `Code of ${hit.path}`, language: hit.language }),
    ];
  }

  related() {
    return h("div", {}, related(this.result, this.hit));
  }

  agent() {
    const text = h("div", {}, h("p", { class: "muted" }, "Calling the tool"));
    const load = async (format) => {
      try {
        const args = { ...this.call.arguments, response_format: format };
        const answer = await ask("call", { tool: this.call.tool, arguments: args });
        redraw(() => fill(text,
          h("div", { class: "agent-head" },
            h("p", {}, h("strong", {}, `about ${count(answer.tokens)} tokens`), ` · ${count(answer.characters)} characters · ${this.call.tool}`),
            h("label", {}, "Format ", pick(format, load))),
          h("pre", { class: "code plain", tabindex: 0, role: "region", "aria-label": "The tool's answer" }, answer.text)));
      } catch (error) {
        if (!(error instanceof Outdated)) fill(text, failure(error, () => load(format)));
      }
    };
    load("detailed");
    return text;
  }
}

function pick(format, load) {
  const select = h("select", { id: "format", onchange: () => load(select.value) }, ["concise", "detailed", "json"].map((one) => h("option", { value: one }, one)));
  select.value = format;
  return select;
}

// ---------------------------------------------------------------- the score

// The terms of a score as steps: what each added, or what it multiplied the sum by.
function steps(hit) {
  const added = hit.factors.filter((factor) => factor.kind !== "factor");
  const factors = hit.factors.filter((factor) => factor.kind === "factor");
  const isReranked = added.some((factor) => factor.kind === "term"); // Then they replace the fused score.
  const fused = isReranked ? 0 : hit.fused_score;
  const sum = added.reduce((all, one) => all + one.value, fused);
  const product = factors.reduce((all, factor) => all * factor.value, 1);
  const rest = sum * product ? hit.score / (sum * product) : 1;
  const why = isReranked ? ["file", "What leads to the file, its status and its age"] : ["limit", "Bounds of the combined boosts and penalties"];
  return { added, factors, product, sum, fused, rest, why };
}

function score(hit) {
  const { added, factors, product, sum, fused, rest, why } = steps(hit);
  const parts = [...(fused ? [["fused", fused]] : []), ...added.map((one) => [one.name, one.value])];
  const scale = 100 / Math.max(parts.reduce((all, [, value]) => all + Math.max(0, value), 0), hit.score, 0.001);
  const bar = h("div", { class: "stack", role: "img", "aria-label": parts.map(([name, value]) => `${name} ${value.toFixed(3)}`).join(", ") },
    parts.map(([name, value], place) => {
      if (value <= 0) return null;
      const part = h("span", { class: `part p${place % 6}`, title: `${name} ${value.toFixed(3)}` });
      part.style.inlineSize = `${value * scale}%`;
      return part;
    }));
  const final = h("div", { class: "stack total", role: "img", "aria-label": `final score ${hit.score.toFixed(3)}` }, h("span", { class: "part" }));
  final.firstChild.style.inlineSize = `${Math.max(0, hit.score) * scale}%`;
  let running = fused;
  const row = (swatch, name, value, total, note) => h("tr", {},
    h("th", { scope: "row" }, swatch, h("span", {}, name)), h("td", { class: "n" }, value), h("td", { class: "n" }, total), h("td", {}, note));
  const rows = [
    fused ? row(swatchOf(0), "fused", fused.toFixed(3), fused.toFixed(3), lists(hit)) : null,
    ...added.map((one, place) => row(swatchOf(place + (fused ? 1 : 0)), one.name, `${one.value < 0 ? "−" : "+"} ${Math.abs(one.value).toFixed(3)}`, (running += one.value).toFixed(3), note(one))),
    ...factors.map((factor) => row(null, factor.name, `× ${factor.value.toFixed(3)}`, (running *= factor.value).toFixed(3), note(factor))),
    Math.abs(rest - 1) > 0.002 ? row(null, why[0], `× ${rest.toFixed(3)}`, hit.score.toFixed(3), why[1]) : null,
  ];
  return [
    h("div", { class: "bars" }, h("span", { class: "muted" }, "added up"), bar, h("span", { class: "n" }, sum.toFixed(2)),
      h("span", { class: "muted" }, `× ${(product * rest).toFixed(2)}`), final, h("strong", { class: "n" }, hit.score.toFixed(2))),
    h("table", { class: "terms" },
      h("caption", {}, "How the score is computed"),
      h("thead", {}, h("tr", {}, ["Term", "Value", "So far", "Why"].map((name, place) => h("th", { scope: "col", class: place === 1 || place === 2 ? "n" : "" }, name)))),
      h("tbody", {}, rows.filter(Boolean)),
      h("tfoot", {}, row(null, "score", "", hit.score.toFixed(3), `fused ${hit.fused_score.toFixed(3)} is what min_score compares`))),
  ];
}

const swatchOf = (place) => h("span", { class: `swatch p${place % 6}`, "aria-hidden": "true" });

function lists(hit) {
  const ranks = Object.entries(hit.ranks);
  if (!ranks.length) return "In no list; named by the query";
  return h("span", { class: "ranks" }, ["vector", "keyword", "graph"].map((name) => {
    const rank = hit.ranks[name];
    return h("span", { class: rank ? "rank" : "rank none" }, `${name} `, h("b", {}, rank ? `#${rank}` : "–"));
  }));
}

function note(factor) {
  const meaning = MEANINGS[factor.name] ?? (factor.name.startsWith("category") ? "The prior of this kind of file" : "");
  return [meaning, factor.note].filter(Boolean).join(": ");
}

// ---------------------------------------------------------------- related code

function related(result, hit) {
  const parts = [];
  const ofHit = (one) => `${one.direction === "out" ? one.source : one.target}.`.startsWith(`${hit.symbol}.`);
  const near = hit.symbol ? result.expanded.filter(ofHit) : result.expanded;
  if (hit.symbol) parts.push(h("p", {}, toSymbol(hit, "Everything that calls, tests and implements it")));
  if (near.length) {
    parts.push(h("h3", {}, "Related in the code graph"), h("ul", { class: "places" }, near.map((one) => h("li", {},
      toFile(one.path, one.start_line, pathOf(one.path, `:${one.start_line}`)),
      h("p", {}, one.direction === "out" ? `${one.source || "the result"} ` : `${one.source || "the file"} `, h("em", {}, one.relation.replace("_", " ")), ` ${one.target || "the result"}`),
      h("p", { class: "muted" }, `${one.confirmed ? "" : "a guess: "}${one.certainty}, ${plural(one.hops, "hop")}`)))));
  }
  if (result.runner_up.length) {
    parts.push(h("h3", {}, "Further places"), h("ul", { class: "places" }, result.runner_up.map((one) => h("li", {},
      toFile(one.path, one.start_line, pathOf(one.path, `:${one.start_line}–${one.end_line}`)), h("p", { class: "muted" }, `${one.symbol} score ${one.score.toFixed(2)}`)))));
  }
  if (result.rejected.length) {
    parts.push(h("h3", {}, "Rejected approaches"), h("ul", { class: "places" }, result.rejected.map((one) => h("li", {},
      pathOf(one.path, `:${one.start_line}`), h("p", { class: "muted" }, one.title || one.status || "")))));
  }
  return parts.length ? parts : empty("Nothing related", "These results have no neighbours in the graph, or related code was switched off.");
}

function run(result) {
  const { meta } = result;
  const stages = [["candidates", "original_count"], ["above the threshold", "after_threshold"], ["different texts", "after_content_dedup"],
    ["different wording", "after_ngram_dedup"], ["different meaning", "after_semantic_dedup"], ["within the cap per file", "after_doc_limit"], ["shown", "final_count"]];
  const most = Math.max(1, meta.compression.original_count);
  const strategy = meta.search_strategy;
  return [
    h("dl", { class: "pairs" }, [
      ["Search", `${meta.retrieval_ms.toFixed(1)} ms`], ["With fresh files checked", `${result.total_ms.toFixed(1)} ms`],
      ["Understood as", strategy.intent.replaceAll("_", " ")], ["Fusion", strategy.fusion_method], ["Reranking", strategy.reranker],
      ["Lists", [strategy.semantic_enabled && "vector", strategy.fts_enabled && "keyword", strategy.graph_expansion_enabled && "graph"].filter(Boolean).join(", ")],
      ["Filters", strategy.filters_applied.join(", ").replaceAll("_", " ") || "none"],
    ].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    h("h3", {}, "From candidates to results"),
    h("ol", { class: "funnel" }, stages.map(([name, key]) => {
      const bar = h("span", { class: "fill" });
      bar.style.inlineSize = `${(100 * meta.compression[key]) / most}%`;
      return h("li", {}, h("span", {}, name), h("span", { class: "track", "aria-hidden": "true" }, bar), h("span", { class: "n" }, count(meta.compression[key])));
    })),
  ];
}
