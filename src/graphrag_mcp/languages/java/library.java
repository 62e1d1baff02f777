// What types of the standard library give, as far as it can be of the project; with the names of all their members.

package java.lang;

import java.util.Iterator;
import java.util.Optional;
import java.util.Spliterator;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

public interface Serializable {}
public interface Cloneable {}
public interface Runnable { void run(); }
public interface AutoCloseable { void close(); }
public interface Comparable<T> { int compareTo(T other); }
public interface CharSequence {
  int length(); char charAt(int at); CharSequence subSequence(int start, int end); Stream<Integer> chars();
  Stream<Integer> codePoints(); boolean isEmpty();
}
public interface Iterable<T> {
  Iterator<T> iterator();
  default void forEach(Consumer<T> action) {}
  default Spliterator spliterator() {}
}
public abstract class Record {}
public abstract class Enum<E> implements Comparable<E> {
  static E[] values() {} static E valueOf(String name) {} String name() {} int ordinal() {} int compareTo(E other) {}
  Class<E> getDeclaringClass() {} Optional describeConstable() {}
}
public class Throwable {
  String getMessage() {} String getLocalizedMessage() {} Throwable getCause() {} Throwable initCause(Throwable cause) {}
  void printStackTrace() {} Throwable fillInStackTrace() {} StackTraceElement[] getStackTrace() {}
  void setStackTrace(StackTraceElement[] trace) {} void addSuppressed(Throwable other) {} Throwable[] getSuppressed() {}
}
public class Exception extends Throwable {}
public class RuntimeException extends Exception {}
public class Error extends Throwable {}
public class AssertionError extends Error {}
public class IllegalArgumentException extends RuntimeException {}
public class IllegalStateException extends RuntimeException {}
public class IndexOutOfBoundsException extends RuntimeException {}
public class NullPointerException extends RuntimeException {}
public class UnsupportedOperationException extends RuntimeException {}
public class ClassCastException extends RuntimeException {}
public class ArithmeticException extends RuntimeException {}
public class InterruptedException extends Exception {}
public class CloneNotSupportedException extends Exception {}
public class ThreadLocal<T> {
  T get() {} void set(T value) {} void remove() {} T initialValue() {}
  static <S> ThreadLocal<S> withInitial(Supplier<S> supplier) {}
}

package java.lang.annotation;

public interface Annotation { Class<?> annotationType(); }

package java.lang.ref;

public abstract class Reference<T> {
  T get() {} void clear() {} boolean enqueue() {} boolean isEnqueued() {} boolean refersTo(T other) {}
}
public class WeakReference<T> extends Reference<T> {}
public class SoftReference<T> extends Reference<T> {}
public class PhantomReference<T> extends Reference<T> {}

package java.lang.reflect;

public interface Type { default String getTypeName() {} }
public interface InvocationHandler { Object invoke(Object proxy, Method method, Object[] arguments); }
public interface ParameterizedType extends Type {
  Type[] getActualTypeArguments(); Type getRawType(); Type getOwnerType();
}
public interface WildcardType extends Type { Type[] getUpperBounds(); Type[] getLowerBounds(); }
public interface GenericArrayType extends Type { Type getGenericComponentType(); }

package java.io;

public interface Serializable {}
public interface Closeable extends AutoCloseable { void close(); }
public interface Flushable { void flush(); }
public interface FileFilter { boolean accept(File file); }
public interface FilenameFilter { boolean accept(File folder, String name); }
public class IOException extends Exception {}
public class UncheckedIOException extends RuntimeException {}

package java.security;

public interface PrivilegedAction<T> { T run(); }
public interface PrivilegedExceptionAction<T> { T run(); }

package java.util;

import java.util.function.*;
import java.util.stream.Stream;

public interface Iterator<E> {
  boolean hasNext(); E next(); default void remove() {} default void forEachRemaining(Consumer<E> action) {}
}
public interface ListIterator<E> extends Iterator<E> {
  boolean hasPrevious(); E previous(); int nextIndex(); int previousIndex(); void set(E element); void add(E element);
}
public interface Enumeration<E> { boolean hasMoreElements(); E nextElement(); default Iterator<E> asIterator() {} }
public interface RandomAccess {}
public interface EventListener {}
public interface Comparator<T> {
  int compare(T one, T other);
  default Comparator<T> reversed() {}
  default Comparator<T> thenComparing(Comparator<T> other) {}
  default <U> Comparator<T> thenComparing(Function<T, U> key) {}
  default <U> Comparator<T> thenComparing(Function<T, U> key, Comparator<U> other) {}
  default Comparator<T> thenComparingInt(ToIntFunction<T> key) {}
  default Comparator<T> thenComparingLong(ToLongFunction<T> key) {}
  default Comparator<T> thenComparingDouble(ToDoubleFunction<T> key) {}
  static <S> Comparator<S> naturalOrder() {} static <S> Comparator<S> reverseOrder() {}
  static <S, U> Comparator<S> comparing(Function<S, U> key) {}
  static <S, U> Comparator<S> comparing(Function<S, U> key, Comparator<U> other) {}
  static <S> Comparator<S> comparingInt(ToIntFunction<S> key) {}
  static <S> Comparator<S> comparingLong(ToLongFunction<S> key) {}
  static <S> Comparator<S> comparingDouble(ToDoubleFunction<S> key) {}
  static <S> Comparator<S> nullsFirst(Comparator<S> other) {} static <S> Comparator<S> nullsLast(Comparator<S> other) {}
}
public interface Collection<E> extends Iterable<E> {
  int size(); boolean isEmpty(); boolean contains(Object one); <T> T[] toArray(T[] into); Object[] toArray();
  boolean add(E one); boolean remove(Object one); boolean containsAll(Collection<?> all);
  boolean addAll(Collection<E> all); boolean removeAll(Collection<?> all); boolean retainAll(Collection<?> all);
  void clear(); boolean removeIf(Predicate<E> filter); Stream<E> stream(); Stream<E> parallelStream();
}
public interface List<E> extends Collection<E> {
  E get(int at); E set(int at, E one); void add(int at, E one); E remove(int at); boolean addAll(int at, Collection<E> all);
  int indexOf(Object one); int lastIndexOf(Object one); ListIterator<E> listIterator(); ListIterator<E> listIterator(int at);
  List<E> subList(int start, int end); void replaceAll(UnaryOperator<E> operator); void sort(Comparator<E> order);
  E getFirst(); E getLast(); E removeFirst(); E removeLast(); void addFirst(E one); void addLast(E one); List<E> reversed();
  static <T> List<T> of(T... all) {} static <T> List<T> copyOf(Collection<T> all) {}
}
public interface Set<E> extends Collection<E> {
  static <T> Set<T> of(T... all) {} static <T> Set<T> copyOf(Collection<T> all) {}
}
public interface SortedSet<E> extends Set<E> {
  E first(); E last(); SortedSet<E> headSet(E to); SortedSet<E> tailSet(E from); SortedSet<E> subSet(E from, E to);
  Comparator<E> comparator();
}
public interface NavigableSet<E> extends SortedSet<E> {
  E lower(E one); E floor(E one); E ceiling(E one); E higher(E one); E pollFirst(); E pollLast();
  NavigableSet<E> descendingSet(); Iterator<E> descendingIterator();
}
public interface Queue<E> extends Collection<E> { boolean offer(E one); E remove(); E poll(); E element(); E peek(); }
public interface Deque<E> extends Queue<E> {
  void addFirst(E one); void addLast(E one); boolean offerFirst(E one); boolean offerLast(E one); E removeFirst();
  E removeLast(); E pollFirst(); E pollLast(); E getFirst(); E getLast(); E peekFirst(); E peekLast();
  boolean removeFirstOccurrence(Object one); boolean removeLastOccurrence(Object one); void push(E one); E pop();
  Iterator<E> descendingIterator();
}
public interface Map<K, V> {
  int size(); boolean isEmpty(); boolean containsKey(Object key); boolean containsValue(Object value); V get(Object key);
  V put(K key, V value); V remove(Object key); boolean remove(Object key, Object value); void putAll(Map<K, V> all);
  void clear(); Set<K> keySet(); Collection<V> values(); Set<Map.Entry<K, V>> entrySet(); V getOrDefault(Object key, V other);
  void forEach(BiConsumer<K, V> action); void replaceAll(BiFunction<K, V, V> function); V putIfAbsent(K key, V value);
  V replace(K key, V value); boolean replace(K key, V before, V after); V computeIfAbsent(K key, Function<K, V> function);
  V computeIfPresent(K key, BiFunction<K, V, V> function); V compute(K key, BiFunction<K, V, V> function);
  V merge(K key, V value, BiFunction<V, V, V> function);
  static <A, B> Map<A, B> of(A key, B value) {} static <A, B> Map<A, B> of(A key, B value, A key2, B value2) {}
  static <A, B> Map<A, B> of() {} static <A, B> Map<A, B> ofEntries(Map.Entry<A, B>... all) {}
  static <A, B> Map<A, B> copyOf(Map<A, B> all) {} static <A, B> Map.Entry<A, B> entry(A key, B value) {}
  interface Entry<K, V> { K getKey(); V getValue(); V setValue(V value); }
}
public interface SortedMap<K, V> extends Map<K, V> {
  K firstKey(); K lastKey(); SortedMap<K, V> headMap(K to); SortedMap<K, V> tailMap(K from);
  SortedMap<K, V> subMap(K from, K to); Comparator<K> comparator();
}
public interface NavigableMap<K, V> extends SortedMap<K, V> {
  Map.Entry<K, V> lowerEntry(K key); Map.Entry<K, V> floorEntry(K key); Map.Entry<K, V> ceilingEntry(K key);
  Map.Entry<K, V> higherEntry(K key); Map.Entry<K, V> firstEntry(); Map.Entry<K, V> lastEntry();
  Map.Entry<K, V> pollFirstEntry(); Map.Entry<K, V> pollLastEntry(); K lowerKey(K key); K floorKey(K key);
  K ceilingKey(K key); K higherKey(K key); NavigableMap<K, V> descendingMap(); NavigableSet<K> navigableKeySet();
  NavigableSet<K> descendingKeySet();
}
public abstract class AbstractCollection<E> implements Collection<E> {}
public abstract class AbstractList<E> extends AbstractCollection<E> implements List<E> {
  protected int modCount; protected void removeRange(int start, int end) {}
}
public abstract class AbstractSet<E> extends AbstractCollection<E> implements Set<E> {}
public abstract class AbstractQueue<E> extends AbstractCollection<E> implements Queue<E> {}
public abstract class AbstractMap<K, V> implements Map<K, V> {}
public class ArrayList<E> extends AbstractList<E> implements RandomAccess {
  void ensureCapacity(int size) {} void trimToSize() {}
}
public class LinkedList<E> extends AbstractList<E> implements Deque<E> {}
public class Vector<E> extends AbstractList<E> {
  Enumeration<E> elements() {} E elementAt(int at) {} E firstElement() {} E lastElement() {} void addElement(E one) {}
  boolean removeElement(Object one) {} void removeAllElements() {} void setElementAt(E one, int at) {}
  void removeElementAt(int at) {} void insertElementAt(E one, int at) {} int capacity() {} void copyInto(Object[] into) {}
}
public class Stack<E> extends Vector<E> { E push(E one) {} E pop() {} E peek() {} boolean empty() {} int search(Object one) {} }
public class ArrayDeque<E> extends AbstractCollection<E> implements Deque<E> {}
public class PriorityQueue<E> extends AbstractQueue<E> {}
public class HashSet<E> extends AbstractSet<E> {}
public class LinkedHashSet<E> extends HashSet<E> {}
public class TreeSet<E> extends AbstractSet<E> implements NavigableSet<E> {}
public class EnumSet<E> extends AbstractSet<E> {}
public class HashMap<K, V> extends AbstractMap<K, V> {}
public class LinkedHashMap<K, V> extends HashMap<K, V> { protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {} }
public class TreeMap<K, V> extends AbstractMap<K, V> implements NavigableMap<K, V> {}
public class EnumMap<K, V> extends AbstractMap<K, V> {}
public class IdentityHashMap<K, V> extends AbstractMap<K, V> {}
public class WeakHashMap<K, V> extends AbstractMap<K, V> {}
public class Hashtable<K, V> implements Map<K, V> {
  Enumeration<K> keys() {} Enumeration<V> elements() {} boolean contains(Object value) {} protected void rehash() {}
}
public class NoSuchElementException extends RuntimeException {}
public class Optional<T> {
  T get() {} boolean isPresent() {} boolean isEmpty() {} void ifPresent(Consumer<T> action) {}
  void ifPresentOrElse(Consumer<T> action, Runnable other) {} Optional<T> filter(Predicate<T> filter) {}
  <U> Optional<U> map(Function<T, U> function) {} <U> Optional<U> flatMap(Function<T, Optional<U>> function) {}
  Optional<T> or(Supplier<Optional<T>> other) {} Stream<T> stream() {} T orElse(T other) {} T orElseGet(Supplier<T> other) {}
  T orElseThrow() {} T orElseThrow(Supplier<?> other) {}
  static <S> Optional<S> of(S value) {} static <S> Optional<S> ofNullable(S value) {} static <S> Optional<S> empty() {}
}
public class Objects {
  static <T> T requireNonNull(T one) {} static <T> T requireNonNull(T one, Object message) {}
  static <T> T requireNonNullElse(T one, T other) {} static <T> T requireNonNullElseGet(T one, Supplier<T> other) {}
  static boolean equals(Object one, Object other) {} static boolean deepEquals(Object one, Object other) {}
  static int hash(Object... all) {} static int hashCode(Object one) {} static String toString(Object one) {}
  static String toString(Object one, String other) {} static boolean isNull(Object one) {} static boolean nonNull(Object one) {}
  static <T> int compare(T one, T other, Comparator<T> order) {} static int checkIndex(int at, int length) {}
}

package java.util.function;

public interface Function<T, R> {
  R apply(T one);
  default <V> Function<V, R> compose(Function<V, T> before) {} default <V> Function<T, V> andThen(Function<R, V> after) {}
  static <S> Function<S, S> identity() {}
}
public interface BiFunction<T, U, R> { R apply(T one, U other); default <V> BiFunction<T, U, V> andThen(Function<R, V> after) {} }
public interface UnaryOperator<T> extends Function<T, T> {}
public interface BinaryOperator<T> extends BiFunction<T, T, T> {}
public interface Supplier<T> { T get(); }
public interface Consumer<T> { void accept(T one); default Consumer<T> andThen(Consumer<T> after) {} }
public interface BiConsumer<T, U> { void accept(T one, U other); default BiConsumer<T, U> andThen(BiConsumer<T, U> after) {} }
public interface Predicate<T> {
  boolean test(T one);
  default Predicate<T> and(Predicate<T> other) {} default Predicate<T> or(Predicate<T> other) {}
  default Predicate<T> negate() {} static <S> Predicate<S> not(Predicate<S> other) {} static <S> Predicate<S> isEqual(Object one) {}
}
public interface BiPredicate<T, U> {
  boolean test(T one, U other);
  default BiPredicate<T, U> and(BiPredicate<T, U> other) {} default BiPredicate<T, U> or(BiPredicate<T, U> other) {}
  default BiPredicate<T, U> negate() {}
}
public interface ToIntFunction<T> { int applyAsInt(T one); }
public interface ToLongFunction<T> { long applyAsLong(T one); }
public interface ToDoubleFunction<T> { double applyAsDouble(T one); }
public interface IntFunction<R> { R apply(int one); }
public interface LongFunction<R> { R apply(long one); }
public interface BooleanSupplier { boolean getAsBoolean(); }
public interface IntSupplier { int getAsInt(); }
public interface LongSupplier { long getAsLong(); }

package java.util.stream;

import java.util.*;
import java.util.function.*;

public interface Stream<T> {
  Stream<T> filter(Predicate<T> filter); <R> Stream<R> map(Function<T, R> function);
  <R> Stream<R> flatMap(Function<T, Stream<R>> function); IntStream mapToInt(ToIntFunction<T> function);
  LongStream mapToLong(ToLongFunction<T> function); DoubleStream mapToDouble(ToDoubleFunction<T> function);
  Stream<T> distinct(); Stream<T> sorted(); Stream<T> sorted(Comparator<T> order); Stream<T> peek(Consumer<T> action);
  Stream<T> limit(long count); Stream<T> skip(long count); Stream<T> takeWhile(Predicate<T> filter);
  Stream<T> dropWhile(Predicate<T> filter); void forEach(Consumer<T> action); void forEachOrdered(Consumer<T> action);
  <A> A[] toArray(IntFunction<A[]> made); Object[] toArray(); T reduce(T first, BinaryOperator<T> operator);
  Optional<T> reduce(BinaryOperator<T> operator); <R, A> R collect(Collector<T, A, R> collector); List<T> toList();
  Optional<T> min(Comparator<T> order); Optional<T> max(Comparator<T> order); long count();
  boolean anyMatch(Predicate<T> filter); boolean allMatch(Predicate<T> filter); boolean noneMatch(Predicate<T> filter);
  Optional<T> findFirst(); Optional<T> findAny(); Iterator<T> iterator(); Stream<T> parallel(); Stream<T> sequential();
  Stream<T> unordered(); Stream<T> onClose(Runnable action); void close(); boolean isParallel(); Spliterator spliterator();
  static <S> Stream<S> of(S... all) {} static <S> Stream<S> empty() {} static <S> Stream<S> concat(Stream<S> one, Stream<S> other) {}
  static <S> Stream<S> iterate(S first, UnaryOperator<S> next) {} static <S> Stream<S> generate(Supplier<S> supplier) {}
  static <S> Stream<S> ofNullable(S one) {}
}

package java.util.concurrent;

import java.util.*;

public interface Callable<V> { V call(); }
public interface Executor { void execute(Runnable command); }
public interface Future<V> {
  V get(); V get(long time, TimeUnit unit); boolean cancel(boolean may); boolean isCancelled(); boolean isDone();
  V resultNow(); Throwable exceptionNow(); Object state();
}
public interface ThreadFactory { Thread newThread(Runnable action); }
public interface ExecutorService extends Executor, AutoCloseable {
  <T> Future<T> submit(Callable<T> task); Future<?> submit(Runnable task); <T> Future<T> submit(Runnable task, T result);
  <T> List<Future<T>> invokeAll(Collection<Callable<T>> tasks); <T> T invokeAny(Collection<Callable<T>> tasks);
  void shutdown(); List<Runnable> shutdownNow(); boolean isShutdown(); boolean isTerminated();
}
public interface ScheduledExecutorService extends ExecutorService {}
public class Executors {
  public static ExecutorService newFixedThreadPool(int count) {} public static ExecutorService newCachedThreadPool() {}
  public static ExecutorService newFixedThreadPool(int count, ThreadFactory factory) {}
  public static ExecutorService newSingleThreadExecutor() {} public static ExecutorService newWorkStealingPool() {}
  public static ScheduledExecutorService newScheduledThreadPool(int count) {}
  public static ScheduledExecutorService newSingleThreadScheduledExecutor() {}
}
public interface ConcurrentMap<K, V> extends Map<K, V> {}
public interface BlockingQueue<E> extends Queue<E> {
  void put(E one); E take(); boolean offer(E one, long time, TimeUnit unit); E poll(long time, TimeUnit unit);
  int remainingCapacity(); int drainTo(Collection<E> into); int drainTo(Collection<E> into, int count);
}
public class ConcurrentHashMap<K, V> extends AbstractMap<K, V> implements ConcurrentMap<K, V> {}
public class CopyOnWriteArrayList<E> implements List<E> { boolean addIfAbsent(E one) {} int addAllAbsent(Collection<E> all) {} }
public class CopyOnWriteArraySet<E> extends AbstractSet<E> {}
public class ConcurrentLinkedQueue<E> extends AbstractQueue<E> {}
public class ConcurrentLinkedDeque<E> extends AbstractCollection<E> implements Deque<E> {}
public class LinkedBlockingQueue<E> extends AbstractQueue<E> implements BlockingQueue<E> {}
public class ArrayBlockingQueue<E> extends AbstractQueue<E> implements BlockingQueue<E> {}

package java.util.concurrent.atomic;

import java.util.function.*;

public class AtomicReference<V> {
  V get() {} void set(V value) {} V getAndSet(V value) {} boolean compareAndSet(V before, V after) {} void lazySet(V value) {}
  V getAndUpdate(UnaryOperator<V> operator) {} V updateAndGet(UnaryOperator<V> operator) {}
  V getAndAccumulate(V one, BinaryOperator<V> operator) {} V accumulateAndGet(V one, BinaryOperator<V> operator) {}
  V getPlain() {} V getAcquire() {} V getOpaque() {} void setPlain(V value) {} void setRelease(V value) {}
}

package com.google.common.base;

public class MoreObjects {
  public static ToStringHelper toStringHelper(Object of) {} public static <T> T firstNonNull(T one, T other) {}
  public static class ToStringHelper {
    ToStringHelper add(String name, Object value) {} ToStringHelper addValue(Object value) {} ToStringHelper omitNullValues() {}
  }
}
public class Preconditions {
  public static <T> T checkNotNull(T value) {} public static <T> T checkNotNull(T value, Object message) {}
  public static <T> T checkNotNull(T value, String message, Object... parts) {}
}

package com.google.common.collect;

import java.util.*;
import java.util.function.*;

public abstract class ImmutableCollection<E> extends AbstractCollection<E> { public ImmutableList<E> asList() {} }
public abstract class ImmutableList<E> extends ImmutableCollection<E> implements List<E> {
  public static <E> ImmutableList<E> of(E... all) {} public static <E> ImmutableList<E> copyOf(Iterable<E> all) {}
  public static <E> Builder<E> builder() {}
  public static class Builder<E> {
    Builder<E> add(E... all) {} Builder<E> addAll(Iterable<E> all) {} ImmutableList<E> build() {}
  }
}
public abstract class ImmutableSet<E> extends ImmutableCollection<E> implements Set<E> {
  public static <E> ImmutableSet<E> of(E... all) {} public static <E> ImmutableSet<E> copyOf(Iterable<E> all) {}
  public static <E> Builder<E> builder() {}
  public static class Builder<E> {
    Builder<E> add(E... all) {} Builder<E> addAll(Iterable<E> all) {} ImmutableSet<E> build() {}
  }
}
public abstract class ImmutableMap<K, V> extends AbstractMap<K, V> {
  public static <K, V> ImmutableMap<K, V> of() {} public static <K, V> ImmutableMap<K, V> of(K key, V value) {}
  public static <K, V> ImmutableMap<K, V> of(K key, V value, K other, V another) {}
  public static <K, V> ImmutableMap<K, V> copyOf(Map<K, V> all) {} public static <K, V> Builder<K, V> builder() {}
  public static class Builder<K, V> {
    Builder<K, V> put(K key, V value) {} Builder<K, V> putAll(Map<K, V> all) {} ImmutableMap<K, V> build() {}
    ImmutableMap<K, V> buildOrThrow() {}
  }
}
public interface Multimap<K, V> {
  Collection<V> get(K key); boolean put(K key, V value); Collection<V> values(); Set<K> keySet(); Map<K, Collection<V>> asMap();
  Collection<Map.Entry<K, V>> entries(); Collection<V> removeAll(Object key); boolean containsKey(Object key);
}
public interface ListMultimap<K, V> extends Multimap<K, V> { List<V> get(K key); }
public interface SetMultimap<K, V> extends Multimap<K, V> { Set<V> get(K key); }
public class Iterables {
  public static <T> T getOnlyElement(Iterable<T> all) {} public static <T> T getOnlyElement(Iterable<T> all, T other) {}
  public static <T> T getFirst(Iterable<T> all, T other) {} public static <T> T getLast(Iterable<T> all) {}
  public static <T> T get(Iterable<T> all, int place) {} public static <T> Iterable<T> concat(Iterable<T>... all) {}
  public static <T> Iterable<T> filter(Iterable<T> all, Predicate<T> wanted) {}
  public static <T> T find(Iterable<T> all, Predicate<T> wanted) {}
}
