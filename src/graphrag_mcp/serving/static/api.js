// Asks the server. A newer question of the same kind cancels the one before it.

const running = new Map();

export class Outdated extends Error {}

export async function ask(name, values = {}, kind = name) {
  running.get(kind)?.abort();
  const controller = new AbortController();
  running.set(kind, controller);
  let answer;
  try {
    const response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(values),
      signal: controller.signal,
    });
    if (response.status === 403) throw new Error(await response.text());
    answer = [response.ok, await response.json()];
  } catch (error) {
    if (controller.signal.aborted) throw new Outdated();
    if (error instanceof TypeError) {
      throw new Error("The command that serves this page has ended; start graphrag-mcp ui again.");
    }
    throw error;
  } finally {
    if (running.get(kind) === controller) running.delete(kind);
  }
  if (!answer[0]) throw new Error(answer[1].error);
  return answer[1];
}

export const isAsking = (kind) => running.has(kind);

export function cancel(kind) {
  running.get(kind)?.abort();
}

let known;

// What never changes while the page is open.
export function project() {
  known ??= ask("project").catch((error) => {
    known = undefined;
    throw error;
  });
  return known;
}
