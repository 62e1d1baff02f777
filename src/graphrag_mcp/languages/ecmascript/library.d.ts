// What the generic types of the language's own library give. Members of other kinds need no declaration.
interface Array<T> {
  [n: number]: T;
  pop(): T; shift(): T; at(n: number): T;
  concat(...others: T[][]): T[]; slice(from: number, to: number): T[]; splice(from: number, count: number): T[];
  reverse(): T[]; sort(order: (a: T, b: T) => number): T[]; fill(value: T): T[];
  filter(test: (value: T, n: number, all: T[]) => boolean): T[];
  find(test: (value: T, n: number, all: T[]) => boolean): T;
  some(test: (value: T, n: number, all: T[]) => boolean): boolean;
  every(test: (value: T, n: number, all: T[]) => boolean): boolean;
  findIndex(test: (value: T, n: number, all: T[]) => boolean): number;
  forEach(each: (value: T, n: number, all: T[]) => void): void;
  map<U>(each: (value: T, n: number, all: T[]) => U): U[];
  flatMap<U>(each: (value: T, n: number, all: T[]) => U[]): U[];
  reduce<U>(each: (sum: U, value: T, n: number) => U, first: U): U;
  push(...values: T[]): number; unshift(...values: T[]): number; includes(value: T): boolean;
  indexOf(value: T): number; join(between: string): string; length: number;
}
interface Function { call: unknown; apply: unknown; bind: unknown; length: number; name: string; toString(): string }
interface Set<T> { [n: number]: T; add(value: T): this; has(value: T): boolean; delete(value: T): boolean; size: number;
  forEach(each: (value: T) => void): void; values(): T[]; clear(): void }
interface Map<K, V> { [n: number]: [K, V]; get(key: K): V; set(key: K, value: V): this; has(key: K): boolean;
  delete(key: K): boolean; forEach(each: (value: V, key: K) => void): void; values(): V[]; keys(): K[];
  entries(): [K, V][]; size: number; clear(): void }
interface Promise<T> {
  then<U>(done: (value: T) => U, failed: (reason: string) => U): Promise<U>;
  catch(failed: (reason: string) => void): Promise<T>;
  finally(done: () => void): Promise<T>;
}
type ReadonlyArray<T> = Array<T>; type Iterable<T> = Array<T>; type IterableIterator<T> = Array<T>;
type ArrayLike<T> = Array<T>; type ReadonlySet<T> = Set<T>; type ReadonlyMap<K, V> = Map<K, V>;
type WeakMap<K, V> = Map<K, V>; type WeakSet<T> = Set<T>; type PromiseLike<T> = Promise<T>;
type Record<K, V> = { [key: string]: V };
type Partial<T> = T; type Required<T> = T; type Readonly<T> = T; type NonNullable<T> = T; type Pick<T, K> = T;
type Omit<T, K> = T; type Exclude<T, U> = T; type Extract<T, U> = T; type Awaited<T> = T;
