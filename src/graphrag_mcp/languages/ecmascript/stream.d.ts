// What streams have: methods that give the stream itself keep its type. All other names are foreign.
import { EventEmitter } from "events";
export * from "stream/foreign";
export class Stream extends EventEmitter<unknown> {
  static Stream: typeof Stream; static Readable: typeof Readable; static Writable: typeof Writable;
  static Duplex: typeof Duplex; static Transform: typeof Transform; static PassThrough: typeof PassThrough;
  pipe<T>(to: T, options: unknown): T;
}
export class Readable extends Stream {
  static from(values: unknown, options: unknown): Readable;
  _read(size: number): void; _construct(done: unknown): void; _destroy(error: unknown, done: unknown): void;
  pause(): this; resume(): this; setEncoding(encoding: string): this; unpipe(from: unknown): this; wrap(old: unknown): this;
  destroy(error: unknown): this; read(size: number): unknown; push(value: unknown, encoding: string): boolean;
  unshift(value: unknown, encoding: string): void; isPaused(): boolean;
  map: unknown; filter: unknown; forEach: unknown; toArray: unknown; some: unknown; find: unknown; every: unknown;
  flatMap: unknown; drop: unknown; take: unknown; reduce: unknown; compose: unknown; iterator: unknown;
  closed: boolean; destroyed: boolean; errored: unknown; readable: boolean; readableAborted: boolean;
  readableDidRead: boolean; readableEncoding: string; readableEnded: boolean; readableFlowing: boolean;
  readableHighWaterMark: number; readableLength: number; readableObjectMode: boolean;
}
export class Writable extends Stream {
  _write(value: unknown, encoding: string, done: unknown): void; _writev(values: unknown[], done: unknown): void;
  _final(done: unknown): void; _construct(done: unknown): void; _destroy(error: unknown, done: unknown): void;
  cork(): void; uncork(): void; end(value: unknown, encoding: string, done: unknown): this;
  destroy(error: unknown): this; setDefaultEncoding(encoding: string): this;
  write(value: unknown, encoding: string, done: unknown): boolean;
  closed: boolean; destroyed: boolean; errored: unknown; writable: boolean; writableAborted: boolean;
  writableEnded: boolean; writableFinished: boolean; writableHighWaterMark: number; writableLength: number;
  writableNeedDrain: boolean; writableObjectMode: boolean; writableCorked: number;
}
export class Duplex extends Readable {
  _write(value: unknown, encoding: string, done: unknown): void; _writev(values: unknown[], done: unknown): void;
  _final(done: unknown): void; allowHalfOpen: boolean;
  cork(): void; uncork(): void; end(value: unknown, encoding: string, done: unknown): this;
  setDefaultEncoding(encoding: string): this; write(value: unknown, encoding: string, done: unknown): boolean;
  writable: boolean; writableAborted: boolean; writableEnded: boolean; writableFinished: boolean;
  writableHighWaterMark: number; writableLength: number; writableNeedDrain: boolean; writableObjectMode: boolean;
  writableCorked: number;
}
export class Transform extends Duplex {
  _transform(value: unknown, encoding: string, done: unknown): void; _flush(done: unknown): void;
}
export class PassThrough extends Transform {}
export = Stream;
