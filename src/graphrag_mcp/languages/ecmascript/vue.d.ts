// What the generic parts of Vue give. All other names are foreign.
export * from "vue/foreign";
export interface Ref<T> { value: T }
export type ComputedRef<T> = Ref<T>; export type ShallowRef<T> = Ref<T>; export type WritableComputedRef<T> = Ref<T>;
export type MaybeRef<T> = Ref<T> | T; export type MaybeRefOrGetter<T> = Ref<T> | (() => T) | T;
export type ToRefs<T> = { [K in keyof T]: Ref<T[K]> };
export function ref<T>(first: Ref<T> | T): Ref<T>;
export function shallowRef<T>(first: Ref<T> | T): Ref<T>;
export function computed<T>(get: () => T): Ref<T>;
export function unref<T>(value: Ref<T> | T): T;
export function toValue<T>(value: Ref<T> | (() => T) | T): T;
export function toRaw<T>(value: T): T; export function markRaw<T>(value: T): T;
export function reactive<T>(value: T): T; export function shallowReactive<T>(value: T): T;
export function readonly<T>(value: T): T; export function shallowReadonly<T>(value: T): T;
export function toRefs<T>(value: T): ToRefs<T>;
