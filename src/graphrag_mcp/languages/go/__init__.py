"""Go."""

from graphrag_mcp.languages.language import ImportStyle, Language

LANGUAGES = (
    Language(
        name="go",
        title="Go",
        grammar="tree_sitter_go",
        files=".go",
        imports=ImportStyle.GO,
        builtins="""
        append cap clear close complex copy delete imag len make max min new panic print println real recover
        string byte int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 bool error any
        rune uintptr
    """,
        library="""
        archive arena bufio bytes cmp compress container context crypto database debug embed encoding errors
        expvar flag fmt go hash html image index io iter log maps math mime net os path plugin reflect regexp
        runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe weak
    """,
        has_facts=True,
        manifests="go.mod go.work",
        types_calls=True,
        exports_capitals=True,
        is_named_in_texts=False,
        beside="c cc cpp h m s",
    ),
)
