// What the generic parts of React give, and of libraries with the same interface. All other names are foreign.
export * from "react/foreign";
export * as default from "react";
export interface RefObject<T> { current: T }
export type MutableRefObject<T> = RefObject<T>;
export interface Context<T> extends Foreign {}
export type FunctionComponent<P> = (props: P) => unknown;
export type FC<P> = FunctionComponent<P>;
export type PropsWithChildren<P> = P;
export class Component<P, S> extends Foreign { props: P; state: S; setState(state: S): void; forceUpdate(): void }
export class PureComponent<P, S> extends Component<P, S> {}
export function useState<T>(first: (() => T) | T): [T, (next: T) => void];
export function useRef<T>(first: T): RefObject<T>;
export function createRef<T>(): RefObject<T>;
export function useMemo<T>(make: () => T): T;
export function useCallback<T>(call: T): T;
export function useDeferredValue<T>(value: T): T;
export function createContext<T>(value: T): Context<T>;
export function useContext<T>(context: Context<T>): T;
export function use<T>(value: Context<T> | Promise<T>): T;
export function useSyncExternalStore<T>(subscribe: (call: () => void) => () => void, get: () => T): T;
export function memo<T>(component: T): T;
export function forwardRef<T>(component: T): T;
