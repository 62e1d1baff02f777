import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { debounce } from "./debounce";

describe("debounce", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("calls once with the last arguments", () => {
    const call = vi.fn();
    const debounced = debounce(call, 100);
    debounced("a");
    debounced("b");
    vi.advanceTimersByTime(100);
    expect(call.mock.calls).toEqual([["b"]]);
  });

  it("forgets a cancelled call", () => {
    const call = vi.fn();
    const debounced = debounce(call, 100);
    debounced("a");
    debounced.cancel();
    vi.advanceTimersByTime(100);
    expect(call).not.toHaveBeenCalled();
  });

  it("flushes what is waiting", () => {
    const call = vi.fn();
    const debounced = debounce(call, 100);
    debounced("a");
    debounced.flush();
    expect(call).toHaveBeenCalledWith("a");
  });
});
