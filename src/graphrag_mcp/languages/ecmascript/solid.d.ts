// What the generic parts of Solid give. All other names are foreign.
export * from "solid-js/foreign";
export interface Context<T> extends Foreign {}
export type Accessor<T> = () => T;
export type Setter<T> = (next: T) => T;
export type Signal<T> = [Accessor<T>, Setter<T>];
export type Component<P> = (props: P) => unknown;
export type ParentComponent<P> = Component<P>;
export function createSignal<T>(first: T): Signal<T>;
export function createMemo<T>(make: () => T): Accessor<T>;
export function createContext<T>(value: T): Context<T>;
export function useContext<T>(context: Context<T>): T;
export function untrack<T>(make: () => T): T;
export function batch<T>(make: () => T): T;
export function createStore<T>(first: T): [T, unknown];
export function unwrap<T>(value: T): T;
