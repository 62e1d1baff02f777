"""What describes a language."""

from enum import StrEnum

from msgspec import Struct


class ImportStyle(StrEnum):
    """How a language's import statements name modules; `parsing/code/imports.py` turns each into a path."""

    PYTHON = "python"  # a.b.c, ..a
    PATH = "path"  # ./a/b.js, @scope/package
    INCLUDE = "include"  # a/b.h, found beside the file or on a search path
    GO = "go"  # host/owner/repository/a/b
    RUST = "rust"  # crate::a::b, super::c
    DOTTED = "dotted"  # a.b.C, a\\b\\C: the last segment is the bound name
    MODULE = "module"  # A.B.C is itself the module
    OPENED = "opened"  # A.B.C is a module whose names are then visible, and has no name itself
    SNAKE = "snake"  # A.BarBaz is the module in a/bar_baz
    NAMESPACE = "namespace"  # Vendor\\A\\C, where the first segment is mostly no folder


class Arguments(Struct, frozen=True):
    """The nodes of a grammar by which the arguments of calls and the parameters of functions are counted."""

    calls: str
    parameters: str  # Each takes one argument, or none where it has a default value or is `this`.
    optional: str = ""  # Each takes one argument or none.
    uncounted: str = ""  # Neither arguments nor parameters; anything else among parameters takes any number.
    tokens: str = ""  # What a macro is given, which is not parsed.
    lists: str = "arguments"  # What lists arguments, or parameters where no field has them.
    behind: str = ""  # An argument behind the list, or without one.
    together: str = ""  # Arguments that are one more, or none: Ruby's last hash.
    spread: str = ""  # Any number of arguments.
    bare: str = ""  # Functions that take none where they list no parameters.
    has_macros: bool = False  # Whether an argument in capitals may stand for several.
    is_open: bool = False  # Whether an empty list of parameters stands for any number.
    gives_receiver: bool = False  # Whether the value before a name is the first argument.
    takes_more: bool = False  # Whether a function may be given more than it names.


class Language(Struct, frozen=True):
    """One language. A text of several words lists them.

    A field says in what a language differs from most. Its folder has the query of its outline, and what else there is:
    `facts.scm`, `shapes.py` and `policy.py` for languages with facts, `repairs.py`, `manifests.py`, `testing.py`.
    """

    # The grammar.
    name: str
    title: str  # The name as people write it.
    grammar: str  # The package of its wheel.
    files: str  # Extensions (".py") and whole file names.
    imports: ImportStyle = ImportStyle.MODULE
    interpreters: str = ""  # Names after `#!`.
    factory: str = "language"  # The function of the package that gives the grammar.
    queries: str = ""  # What its query files begin with, where a folder has several languages; an earlier pattern wins.
    repairs: str = ""  # What in `repairs.py` changes code that the grammar cannot read.
    # Whether other characters are replaced before parsing, because the grammar's scanner reads beyond the end of C's
    # table of characters and may crash.
    ascii_only: bool = False
    is_embedded: bool = False  # Whether a part of a file may be text: PHP begins with `<?php`.

    # Names.
    builtins: str = ""  # Functions, macros and types that need no import; every file uses them.
    library: str = ""  # The first segments of the modules of its standard library.
    super: str = "super"  # The word for the type above, "" if there is none.
    constructors: str = ""  # The names of the methods that run when an instance of their type is created.
    hides_private: bool = False  # Whether what is `private` is seen in its own file and type only.
    attribute_ending: str = ""  # The end of a type's name that an attribute need not write.
    typed_members: bool = False  # Whether a value has the members of its type, of those above it, and no others.
    calls_fields: bool = False  # Whether fields are read and set by calls, unless they have a capital first.
    capitals: bool = False  # Whether a receiver with a capital first is a constant, and no variable.
    clauses: bool = False  # Whether several definitions in a row with one name are one function.
    bare_members: bool = True  # Whether a bare name may be that of a method.
    implicit: str = ""  # The methods that code calls without their names, besides operators.
    derived: str = ""  # The types above one that say nothing but which `implicit` methods are made for it.
    says_overrides: bool = False  # Whether what overrides a member of a class says so.
    overrides_exactly: bool = False  # Whether a method that overrides one must have as many parameters.
    unreplaced: str = ""  # Words before a member that overrides none and that none overrides, unless it is abstract.
    blocks_implement: bool = False  # Whether only the members of a block that names a type above override its members.
    overloads: bool = False  # Whether functions of one name may differ in nothing but the types of their parameters.
    arguments: Arguments | None = None  # Without facts: how they are counted, None if they are not.
    inner_modules: bool = False  # Whether a file may contain a module, which hides its names.
    # Folders below which that of a file is its package, whose declarations it sees; "*": it sees those of all files.
    packages: str = ""
    sources: str = ""  # The folder of a package's files, which is not a part of their modules' names.

    # Other files.
    headers: bool = False  # Whether headers declare what other files define.
    imports_names: bool = True  # Whether an import may name a definition, and not only a file.
    family: str = ""  # The language of whose files it may be known as, as headers of C are.
    platform: str = ""  # Other languages whose definitions its code may mean by their names.

    # Facts. The rest is asked of definitions with facts only.
    has_facts: bool = False
    manifests: str = ""  # The names of the files that `manifests.py` reads, or patterns (`?sconfig*.json`).
    types_calls: bool = False  # Whether a call relies on the types of parameters.
    names_arguments: bool = False  # Whether a call may give an argument by the parameter's name.
    exports_capitals: bool = False  # Whether other packages see what has a capital first.
    public: str = ""  # The word before what others may use; "" if all is but what begins with `_`.
    is_named_in_texts: bool = True  # Whether templates, settings and documents may name a definition.
    loads_types: bool = False  # Whether programs load types by qualified names in texts and in data.
    beside: str = ""  # Extensions of other code that names what it declares.

    # Tests.
    test_types: bool = False  # Whether tests are in types named as such: `CartTest`.
    test_stem: bool = True  # Whether a file that is only called `test` is one, and no command or module of that name.
    test_mark: str = ""  # What a file that is only called `test` has, if it is one where `test_stem` is false.
    inline_tests: str = ""  # What a module is called in which code has its tests beside it.
    test_prefix: bool = True  # Whether `test_cart` is a test, and no helper.
    test_runs: str = ""  # What functions that run the tests of a file are called, where these are known to no runner.
    described: str = ""  # The word for the type that a block of tests describes.
