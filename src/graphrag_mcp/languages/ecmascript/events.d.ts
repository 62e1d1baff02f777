// What emitters of events have: methods that give the emitter itself keep its type. All other names are foreign.
export * from "events/foreign";
export class EventEmitter<T> {
  static EventEmitter: typeof EventEmitter;
  on(event: unknown, call: unknown): this; once(event: unknown, call: unknown): this;
  addListener(event: unknown, call: unknown): this; prependListener(event: unknown, call: unknown): this;
  prependOnceListener(event: unknown, call: unknown): this;
  off(event: unknown, call: unknown): this; removeListener(event: unknown, call: unknown): this;
  removeAllListeners(event: unknown): this; setMaxListeners(count: number): this; getMaxListeners(): number;
  emit(event: unknown, ...values: unknown[]): boolean; eventNames(): string[];
  listeners(event: unknown): unknown[]; rawListeners(event: unknown): unknown[]; listenerCount(event: unknown): number;
}
export = EventEmitter;
