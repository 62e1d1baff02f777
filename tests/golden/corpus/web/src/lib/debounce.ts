export interface Debounced<A extends unknown[]> {
  (...args: A): void;
  cancel(): void;
  flush(): void;
}

/** Calls a function once, when nobody has called it for a while. `flush` calls it at once if a call is waiting. */
export function debounce<A extends unknown[]>(call: (...args: A) => void, milliseconds: number): Debounced<A> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting: A | undefined;

  const run = () => {
    const args = waiting;
    waiting = undefined;
    timer = undefined;
    if (args) {
      call(...args);
    }
  };

  const debounced = ((...args: A) => {
    waiting = args;
    clearTimeout(timer);
    timer = setTimeout(run, milliseconds);
  }) as Debounced<A>;

  debounced.cancel = () => {
    clearTimeout(timer);
    waiting = undefined;
  };
  debounced.flush = () => {
    clearTimeout(timer);
    run();
  };
  return debounced;
}
