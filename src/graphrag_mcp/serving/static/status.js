// The line at the top that says how complete the index is.

import { ask, project } from "./api.js";
import { plural } from "./dom.js";

const BUILDING_MS = 700;
const READY_MS = 5000;

export function startStatus() {
  const place = document.getElementById("state");
  const words = place.querySelector(".words");
  let last = "";

  async function look() {
    let wait = READY_MS;
    try {
      const state = await ask("progress");
      place.dataset.state = state.state;
      const text = state.state === "ready" ? `${plural(state.files_total, "file")}, ${plural(state.chunks, "chunk")}` : state.words;
      if (text !== last) words.textContent = last = text;
      if (state.state !== "ready") wait = BUILDING_MS;
      document.dispatchEvent(new CustomEvent("index", { detail: state }));
    } catch (error) {
      place.dataset.state = "failed";
      words.textContent = last = "not connected";
      place.title = error.message;
    }
    setTimeout(look, wait);
  }

  look();
  project().then((known) => {
    const name = known.root.split("/").at(-1);
    const brand = document.querySelector(".brand span");
    brand.textContent = name;
    brand.title = known.root;
  }).catch(() => {});
}
