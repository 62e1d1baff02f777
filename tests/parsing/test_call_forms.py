"""Calls: in every language, each form of a call makes the function around it a caller."""

import pytest

from graphrag_mcp.model.files import RelationKind
from tests.parsing.code_samples import parse_lines

# By the path: a function whose body is at "@", and the forms. `f` is called in each of them, or the function that is named first.
FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a.py": (
        "async def caller(x, k):\n    @",
        (
            "f(x)", "not f(x)", "-f(x)", "await f(x)", "print(*f(x))", "print(**f(x))", "k = [f(y) for y in x]",
            "k = {y: f(y) for y in x}", 'k = f"{f(x)!r:>3}"', 'k = f"{x:{f(x)}}"', "k = x if f(x) else k", "k = f(x) if x else k",
            "k = lambda: f(x)", "return f(x)", "raise f(x)", "assert f(x)", "del f(x).y", "with f(x) as k: pass",
            "async with f(x): pass", "for k in f(x): pass", "while f(x): pass", "if (k := f(x)): pass", "x[f(x)] = 1",
            "x[1:f(x)]", "x.y[f(x)].z", "f(x)(1)", "f(x)[0]", "k += f(x)", "yield f(x)", "@f(1)\n    def g(): pass",
            "@f\n    def g(): pass", "def g(a=f(1)): pass", "def g(a: f(1)): pass", "class G(f(x)): pass", "x and f(x)",
            "match x:\n        case k if f(x): pass", "match f(x):\n        case _: pass", "try: pass\n    except f(x): pass",
            "a.f(x)", "x().f(x)", "x[0].f(x)", "(x or k).f(x)", '"".f(x)', "f(x) < 1 < f(x)", "k = f(x), 1", "print(k=f(x))",
            "return (yield f(x))", "yield from f(x)", "global k; k = f(x)", "async for k in f(x): pass",
        ),
    ),
    "a.js": (
        "async function* caller(x, k) {\n  @\n}",
        (
            "f(x)", "!f(x)", "-f(x)", "+f(x)", "~f(x)", "typeof f(x)", "void f(x)", "await f(x)", "f?.(x)", "a?.f(x)", "a?.f?.(x)",
            "g(...f(x))", "k = [...f(x)]", "k = { ...f(x) }", "k = `a${f(x)}b`", "f`a`", "a.f`a`", "k = x ? f(x) : 1",
            "k = { a: f(x) }", "k = { [f(x)]: 1 }", "const { a = f(x) } = k", "const [a = f(x)] = k", "const g = (a = f(x)) => a",
            "const g = () => f(x)", "return f(x)", "throw f(x)", "yield f(x)", "yield* f(x)", "for (const a of f(x)) {}",
            "for (let i = f(x); ;) {}", "while (f(x)) {}", "do {} while (f(x))", "switch (f(x)) {}", "switch (k) { case f(x): }",
            "if (f(x)) {}", "x ||= f(x)", "x ?? f(x)", "x && f(x)", "new f(x)", "new f", "new a.f(x)", "f(x)(1)", "f(x)[0]",
            "f(x).g()", "a.b.f(x)", "this.f(x)", "(0, f)(x)", "class A extends f(x) {}", "class A { b = f(x) }",
            "class A { static { f(x) } }", "class A { @f(1) b() {} }", "class A { @f b() {} }", "delete f(x).y",
            "k = async () => await f(x)", "a[f(x)] = 1", "f(x) instanceof k", "f(x) in k", "(f)(x)", "f.call(x)", "import(f(x))",
            "label: f(x)", "try { f(x) } catch { }",
        ),
    ),
    "a.ts": (
        "async function caller(x: any, k: any) {\n  @\n}",
        (
            "f<string>(x)", "f(x)!", "f(x) as any", "f(x) satisfies any", "<any>f(x)", "new f<string>(x)", "a.f<string>(x)", "f!(x)",
            "class A { constructor(private a = f(x)) {} }", "enum E { A = f(1) }", "using a = f(x)", "await using a = f(x)",
            "class A { @f() accessor b = 1 }", "a?.f<string>(x)", "(f as any)(x)",
        ),
    ),
    "a.tsx": (
        "function caller(x: any) {\n  return @\n}",
        ("<p>{f(x)}</p>", "<p a={f(x)} />", "<p {...f(x)} />", "<>{x && f(x)}</>", "<p>{x.map((y) => f(y))}</p>"),
    ),
    "a.go": (
        "package a\n\nfunc caller(x int, k []int) int {\n\t@\n}",
        (
            "f(x)", "_ = !f(x)", "_ = -f(x)", "defer f(x)", "go f(x)", "_ = <-f(x)", "_ = *f(x)", "_ = &f(x)[0]", "f[int](x)", "f[int, string](x)",
            "a.f(x)", "a.b.f(x)", "a.f[int](x)", "g(f(x)...)", "_ = T{a: f(x)}", "_ = []int{f(x)}", "_ = map[int]int{f(x): f(x)}",
            "_ = func() int { return f(x) }", "return f(x)", "if f(x) {}", "if k := f(x); k {}", "for f(x) {}", "for range f(x) {}",
            "for i := range f(x) {}", "switch f(x) {}", "switch { case f(x): }", "select { case <-f(x): }", "select { case c <- f(x): }",
            "f(x)(1)", "_ = f(x)[0]", "_ = f(x)[1:2]", "k[f(x)] = 1", "k[0] += f(x)", "switch f(x).(type) {}", "_ = f(x).(int)",
            "var a = f(x)", "const a = f(1)", "c <- f(x)", "f(x).g()", "(f)(x)", "x++; f(x)", "_ = (*T).f(x)",
        ),
    ),
    "A.java": (
        "class A {\n  Object caller(Object x) throws Exception {\n    @\n  }\n}",
        (
            "f(x);", "boolean k = !f(x);", "int k = -f(x);", "this.f(x);", "super.f(x);", "a.f(x);", "a.b().f(x);", "A.<String>f(x);",
            "int k = (int) f(x);", "var k = b ? f(x) : 1;", "return f(x);", "throw f(x);", "var k = new int[f(x)];", "int[] k = {f(x)};",
            "for (var k : f(x)) {}", "for (int i = f(x); ; f(x)) {}", "while (f(x)) {}", "switch (f(x)) {}",
            "var k = switch (x) { case Integer i when f(x) -> f(x); default -> 1; };", "assert f(x);", "synchronized (f(x)) {}",
            "try (var k = f(x)) {}", "Runnable k = () -> f(x);", "Runnable k = this::f;", "Runnable k = A::f;", "var k = f(x)[0];",
            "new T(f(x)) { int y = f(x); };", 'String k = "a" + f(x);', "k += f(x);", "new f(x);", "new f<>(x);", "var k = f::new;",
            "new a.f(x);", "outer.new f();", "if (f(x) instanceof String s && f(s)) {}", "do {} while (f(x));",
        ),
    ),
    "a.c": (
        "int caller(int x) {\n  @\n}",
        (
            "f(x);", "!f(x);", "-f(x);", "*f(x) = 1;", "&f(x);", "(void)f(x);", "(f)(x);", "(*f)(x);", "s.f(x);", "s->f(x);", "s[0].f(x);",
            "int k = f(x);", "int k[] = {f(x)};", "struct s k = {.a = f(x)};", "k = x ? f(x) : 1;", "return f(x);", "for (i = f(x); f(x); f(x)) {}",
            "while (f(x)) {}", "do {} while (f(x));", "switch (f(x)) { default: f(x); }", "g(f(x), 1);", "k[f(x)] = 1;", "f(x)->y = 1;", "f(x)[0];",
            "sizeof(f(x));", "a, f(x);", "if (!f(x)) return 1; else f(x);", "case_: f(x);", "k += f(x);", "x && f(x);", "MACRO(f(x));",
        ),
    ),
    "a.cpp": (
        "auto caller(int x) {\n  @\n}",
        (
            "f<int>(x);", "a::f(x);", "::f(x);", "a::b::f(x);", "a::f<int>(x);", "s.f<int>(x);", "this->f(x);", "new f(x);", "new a::f(x);", "f{x};", "auto k = f{x};",
            "throw f(x);", "co_await f(x);", "co_return f(x);", "co_yield f(x);", "auto k = [&] { return f(x); };", "auto k = [y = f(x)] {};",
            "for (auto k : f(x)) {}", "static_cast<int>(f(x));", "g(f(x)...);", "k << f(x);", "delete f(x);", "if (auto k = f(x); k) {}", "T k(f(x));", "T k{f(x)};",
            "std::move(s).f(x);", "s.template f<int>(x);", "decltype(f(x)) k;", "f(x)();", "noexcept(f(x));", "if constexpr (f(x)) {}",
            "std::make_unique<f>(x);", "new f<int>(x);", "new f;",
        ),
    ),
    "a.cs": (
        "class A {\n  async object caller(object x) {\n    @\n  }\n}",
        (
            "f(x);", "var k = !f(x);", "var k = -f(x);", "await f(x);", "this.f(x);", "base.f(x);", "a?.f(x);", "a?.b.f(x);", "a!.f(x);", "f<int>(x);", "a.f<int>(x);", "A.f(x);",
            'var k = $"{f(x)}";', "var k = x ?? f(x);", "x ??= f(x);", "var k = b ? f(x) : 1;", "return f(x);", "throw f(x);", "foreach (var k in f(x)) {}",
            "using var k = f(x);", "using (f(x)) {}", "lock (f(x)) {}", "var k = x switch { int i when f(x) => f(x), _ => 1 };", "var k = new T { A = f(x) };",
            "var k = new T(f(x));", "var k = new[] { f(x) };", "Action k = () => f(x);", "g(out f(x));", "var k = (int)f(x);", "k += f(x);", "var k = f(x)[0];", "yield return f(x);",
            "var k = from y in f(x) select f(y);", "int k() => f(x);", "var k = [f(x)];", "new f(x);", "new f<int>(x);", "var k = new a.f(x);", "while (f(x)) {}", "var k = f(x) is int;",
            "nameof(f(x));", "a.b?.c(f(x));", "f(x)!.g();", "a?[0].f(x);", "a?.f<int>(x);",
        ),
    ),
    "a.rb": (
        "def caller(x)\n  @\nend",
        (
            "f(x)", "f x", "f", "!f(x)", "!f", "-f", "not f", "f + 1", "1 + f", "self.f", "self.f x", "a.f", "a&.f", "a.f(x) { }", "f { |y| y }", "f do |y| y end",
            'k = "a#{f}b"', "k = f", "k = [f]", "k = { a: f }", "g(f)", "g f", "g(*f)", "g(**f)", "g(&f)", "x.map(&:f)", "return f", "f if x", "x if f", "f unless x",
            "k = x ? f : 1", "while f; end", "case f; when 1; end", "case x; when f; end", "x[f]", "f[0]", "f.y", "k += f", "k ||= f", "k = f || 1", "->(y) { f }",
            "x.each { f }", "begin; f; rescue; f; ensure; f; end", "yield f", "x.send(:f)", "x.public_send(:f, 1)", "A.f", "A::B.f", "super(f)", "f!", "k = (f)", "(1..f)",
            "f.g.h", "puts f", "raise f", "`ls #{f}`", "<<~E\n    #{f}\n  E", "@k = f", "k, l = f, 1", "def self.g; f; end", "x => y if f",
        ),
    ),
    "a.php": (
        "<?php\nfunction caller($x) {\n  @\n}",
        (
            "f($x);", "$k = !f($x);", "$k = -f($x);", "@f($x);", "\\f($x);", "a\\f($x);", "$this->f($x);", "$a?->f($x);", "A::f($x);", "self::f($x);", "parent::f($x);", "static::f($x);",
            '$k = "a{$a->f($x)}b";', "$k = $x ? f($x) : 1;", "$k = $x ?? f($x);", "return f($x);", "throw f($x);", "echo f($x);", "print f($x);", "foreach (f($x) as $k) {}",
            "$k = [f($x), 'a' => f($x)];", "$k = fn($y) => f($y);", "$k = function () use ($x) { return f($x); };", "$k = match(true) { f($x) => f($x) };", "new f($x);", "new \\a\\f($x);",
            "g(...f($x));", "g(a: f($x));", "$k = (int) f($x);", "$k .= f($x);", "f($x)[0];", "f($x)->g();", "yield f($x);", "yield from f($x);", "$k = f(...);", "$k = $this->f(...);",
            "$k = clone f($x);", "while (f($x)) {}", "$k = new class(f($x)) {};", "$a['k']->f($x);", "(new A)->f($x);", "f($x) and g();", "exit(f($x));", "unset($k[f($x)]);",
        ),
    ),
    "a.rs": (
        "async fn caller(x: i32) -> i32 {\n    @\n}",
        (
            "f(x);", "!f(x);", "-f(x);", "*f(x);", "&f(x);", "&mut f(x);", "f(x)?;", "f(x).await;", "f::<i32>(x);", "a::f(x);", "Self::f(x);", "self.f(x);", "A::<i32>::f(x);",
            "<A as B>::f(x);", "x.f::<i32>();", "let k = f(x);", "let Some(k) = f(x) else { return 1 };", "if let Some(k) = f(x) {}", "while let Some(k) = f(x) {}",
            "match f(x) { _ => 1 };", "match x { k if f(k) => f(k), _ => 1 };", "return f(x);", "break f(x);", "for k in f(x) {}", "loop { f(x) }", "|y| f(y);", "move || f(x);",
            "[f(x), 1];", "(f(x), 1);", "A { a: f(x) };", "A { ..f(x) };", "vec![f(x)];", 'println!("{}", f(x));', "f!(x);", "a::f!(x);", "x as i32 + f(x);", "f(x)[0];", "f(x)();", "x[f(x)];", "1..f(x);", "f(x) as i32;",
            "unsafe { f(x) };", "async { f(x).await };", "k += f(x);", "f { a: 1 };", "a::f { a: 1 };", "x.map(f);", "x.map(a::f);", "assert!(f(x));", "const K: i32 = f(1);", "(f)(x);", "return x.y(f(x));",
        ),
    ),
    "a.kt": (
        "suspend fun caller(x: Int): Int {\n    @\n}",
        (
            "f(x)", "!f(x)", "-f(x)", "+f(x)", "f(x)!!", "f(x)++", "a.f(x)", "a?.f(x)", "a!!.f(x)", "this.f(x)", "super.f(x)", "f<Int>(x)", "a.f<Int>(x)", "f { it }", "f(x) { it }", "a.f { it }", "a.f(x) { it }",
            'val k = "a${f(x)}b"', "val k = f(x)", "val k = f(x) ?: 1", "val k = x ?: f(x)", "val k = if (f(x)) 1 else f(x)", "when (f(x)) { else -> 1 }", "when { f(x) -> f(x) }", "when (x) { f(x) -> 1; in f(x) -> 2 }",
            "return f(x)", "throw f(x)", "for (k in f(x)) {}", "while (f(x)) {}", "g(f(x))", "g(*f(x))", "g(a = f(x))", "val k = { f(x) }", "val k = fun() = f(x)", "x.let(::f)", "x.let(a::f)", "x.let(A::f)", "a f x", "x[f(x)]", "f(x)[0]", "f(x)(1)",
            "k += f(x)", "f(x) as Int", "f(x) is Int", "f(x) in k", "f(x)..2", "f(x).g()", "object : T(f(x)) {}", "val k by f(x)", "if (!f(x)) return 1", "try { f(x) } catch (e: E) { f(x) }", "fun g(a: Int = f(1)) = a", "x == f(x)", "!a.f(x)", "a.b.f(x)", "label@ f(x)",
        ),
    ),
    "a.swift": (
        "func caller(x: Int) async throws -> Int {\n    @\n}",
        (
            "f(x)", "!f(x)", "-f(x)", "try f(x)", "try? f(x)", "try! f(x)", "await f(x)", "try await f(x)", "a.f(x)", "a?.f(x)", "a!.f(x)", "self.f(x)", "super.f(x)", "f { $0 }", "f(x) { $0 }", "a.f { $0 }", 'let k = "a\\(f(x))b"',
            "let k = f(x)", "let k = x ?? f(x)", "let k = x ? f(x) : 1", "guard let k = f(x) else { return 1 }", "if let k = f(x) {}", "if f(x) {}", "switch f(x) { default: break }", "switch x { case let k where f(k): f(k); default: break }", "return f(x)", "throw f(x)",
            "for k in f(x) {}", "for k in x where f(k) {}", "while f(x) {}", "repeat {} while f(x)", "defer { f(x) }", "g(f(x))", "g(a: f(x))", "let k = { f(x) }", "[f(x)]", "[1: f(x)]", "(f(x), 1)", "x[f(x)]", "f(x)[0]", "f(x).g()", "f(x)()", "k += f(x)", "f(x) as? Int", "f(x) is Int", "1...f(x)",
            "lazy var k = f(x)", "async let k = f(x)", "func g(a: Int = f(1)) {}", "_ = f(x)", "f(x)!", "f(x)?.g()", ".f(x)", "A.f(x)", "A<Int>.f(x)", "f<Int>(x)", "do { try f(x) } catch { f(x) }", "A.init(f(x))",
        ),
    ),
    "a.scala": (
        "def caller(x: Int): Int = {\n  @\n}",
        (
            "f(x)", "!f(x)", "-f(x)", "a.f(x)", "a.f", "f", "f + 1", "this.f(x)", "super.f(x)", "f[Int](x)", "a.f[Int](x)", "f { y => y }", "f(x) { y => y }", "a f x", 's"a${f(x)}b"', 's"a$f b"', "val k = f(x)", "if (f(x)) 1 else f(x)", "f(x) match { case _ => 1 }", "x match { case k if f(k) => f(k) }",
            "return f(x)", "throw f(x)", "for (k <- f(x)) yield f(k)", "for { k <- f(x); if f(k) } yield k", "while (f(x)) {}", "g(f(x))", "g(a = f(x))", "y => f(y)", "x.map(f)", "x.map(f _)", "x.map(f(_))", "x.map(a.f)", "new f(x)", "new f", "new T(f(x)) {}", "(f(x), 1)", "f(x)(1)", "f(x).g", "k += f(x)", "x :: f(x)",
            "try f(x) catch { case _ => f(x) }", "lazy val k = f(x)", "def g(a: Int = f(1)) = a", "x.foldLeft(0)(f)", "List(f(x))", "f(using x)", "val (a, b) = f(x)",
        ),
    ),
    "a.sh": (
        "caller() {\n  @\n}",
        (
            "f", "f x", "! f x", "f | g", "g | f", "f && g", "g || f", "k=$(f x)", "k=`f x`", 'g "$(f x)"', "if f x; then :; fi", "if ! f; then :; fi", "while f; do :; done", "until f; do :; done", "for k in $(f); do :; done", "case $(f) in *) ;; esac", "case x in a) f ;; esac", "f &", "(f)", "{ f; }", "g <(f)", "f > k", "k=1 f x",
            "[[ $(f) == 1 ]]", "[ \"$(f)\" ]", "time f", "trap f EXIT", "command f", "local k=$(f)", "export k=$(f)", "echo $((1 + $(f)))", "g <<< $(f)", "f <<E\nE", "elif_() { f; }", "return $(f)", "f; g", "if g; then f; else f; fi", "coproc f", "eval f", "xargs f", "exec f", "nohup f", "sudo f", "builtin f",
        ),
    ),
    "a.lua": (
        "function caller(x)\n  @\nend",
        (
            "f(x)", "f 'a'", 'f "a"', "f [[a]]", "f{1}", "f { a = 1 }", "a.f(x)", "a:f(x)", "a:f 'x'", "a.b.f(x)", "local k = f(x)", "local k = not f(x)", "local k = -f(x)", "local k = #f(x)", "return f(x)", "if f(x) then end", "while f(x) do end", "repeat until f(x)", "for k in f(x) do end", "for i = f(x), 2 do end",
            "g(f(x))", "local k = { f(x) }", "local k = { a = f(x) }", "local k = { [f(x)] = 1 }", "k[f(x)] = 1", "local k = f(x).y", "local k = f(x)[1]", "f(x)(1)", "f(x):g()", "local k = 'a' .. f(x)", "local k = x and f(x) or 1", "local k = function() return f(x) end", "(f)(x)", "goto l; ::l:: f(x)", "local k <const> = f(x)", "a[1].f(x)", "a['f'](x)", "pcall(f, x)",
        ),
    ),
    "a.ex": (
        "defmodule A do\n  def caller(x) do\n    @\n  end\nend",
        (
            "f(x)", "f x", "!f(x)", "not f(x)", "-f(x)", "a.f(x)", "A.f(x)", "A.B.f(x)", "A.f", "__MODULE__.f(x)", ":a.f(x)", "x |> f()", "x |> f", "x |> A.f()", "x |> f(1) |> g()", "&f/1", "&A.f/1", "&f(&1)", "&A.f(&1)", '"a#{f(x)}b"', "k = f(x)", "if f(x), do: 1", "if x, do: f(x), else: f(x)", "case f(x) do\n _ -> 1\n end", "case x do\n k when f(k) -> f(k)\n end",
            "cond do\n f(x) -> f(x)\n end", "with {:ok, k} <- f(x), do: k", "for k <- f(x), f(k), do: f(k)", "fn y -> f(y) end", "[f(x)]", "{f(x), 1}", "%{a: f(x)}", "%A{a: f(x)}", "%{x | a: f(x)}", "g(f(x))", "g(a: f(x))", "f(x) + 1", "f(x).y", "f(x)[:a]", "try do\n f(x)\n rescue\n _ -> f(x)\n end", "receive do\n k -> f(k)\n end", "x && f(x)", "raise f(x)", "apply(A, :f, [x])", "<<f(x)::8>>", "~s(a#{f(x)})", "unless f(x), do: 1",
        ),
    ),
    "A.hs": (
        "caller x = @",
        (
            "f x", "f $ x", "g $ f x", "g (f x)", "not (f x)", "f x + 1", "1 + f x", "x `f` 1", "g . f", "f . g $ x", "[f x]", "[f y | y <- x]", "[y | y <- x, f y]", "(f x, 1)", "if f x then 1 else f x", "case f x of { _ -> 1 }", "case x of { k | f k -> f k }", "let k = f x in k", "k where k = f x", "do { f x; k <- f x; return k }", "do { let { k = f x }; return k }",
            "\\y -> f y", "A.f x", "f x >>= g", "x >>= f", "g <$> f x", "f <$> x", "f @Int x", "(f x)", "(`f` x)", "(+ f x)", "T { a = f x }", "x & f", "negate (f x)", "- f x", "f x y z", "(f . g) x", "f x :: Int", "x { a = f x }", "[f x ..]", "g =<< f x",
        ),
    ),
    "a.zig": (
        "fn caller(x: i32) !i32 {\n    @\n}",
        (
            "f(x);", "_ = !f(x);", "_ = -f(x);", "try f(x);", "_ = f(x) catch 1;", "_ = f(x) catch |e| f(e);", "_ = f(x) orelse 1;", "_ = x orelse f(x);", "defer f(x);", "errdefer f(x);", "a.f(x);", "a.b.f(x);", "self.f(x);", "const k = f(x);", "return f(x);", "if (f(x)) {}", "if (f(x)) |k| {}", "while (f(x)) {}", "while (f(x)) |k| : (f(x)) {}", "for (f(x)) |k| {}",
            "switch (f(x)) { else => f(x) }", "g(f(x));", "_ = .{ f(x) };", "_ = .{ .a = f(x) };", "_ = T{ .a = f(x) };", "_ = [_]i32{ f(x) };", "_ = &f(x);", "_ = f(x).*;", "_ = f(x).?;", "_ = f(x)[0];", "_ = f(x).y;", "comptime f(x);", "_ = @as(i32, f(x));", "k += f(x);", "_ = x + f(x);", "_ = (f(x));", "f(i32).g();", "nosuspend f(x);", "_ = x[f(x)..];", "break :l f(x);", "_ = f(x) == 1;", "inline for (f(x)) |k| {}", "_ = a.?.f(x);", "_ = a.*.f(x);",
        ),
    ),
}  # fmt: skip


def _cases() -> list[tuple[str, str]]:
    return [(path, form) for path, (_, forms) in FORMS.items() for form in forms]


@pytest.mark.parametrize(("path", "form"), _cases())
def test_every_form_of_a_call_makes_a_caller(path: str, form: str) -> None:
    """With a prefix, in a text, as an argument, a default, a condition or a guard, without parentheses, as a reference."""
    around, _ = FORMS[path]
    relations = parse_lines(path, around.replace("@", form)).relations
    found = {
        one.source.rpartition(".")[2]
        for one in relations
        if one.kind in (RelationKind.CALLS, RelationKind.HANDS_ON) and one.target.rstrip("!") == "f"
    }
    assert found, f"{form} is no call"
