// What the generic parts of Angular give. All other names are foreign.
export * from "angular/foreign";
export type Signal<T> = () => T;
export interface WritableSignal<T> { (): T; set(value: T): void; update(change: (value: T) => T): void }
export function signal<T>(first: T): WritableSignal<T>;
export function computed<T>(make: () => T): Signal<T>;
export function untracked<T>(make: () => T): T;
export function runInInjectionContext<T>(injector: unknown, make: () => T): T;
export class TestBed extends Foreign { static runInInjectionContext<T>(make: () => T): T }
