"""Rust."""

from graphrag_mcp.languages.language import Arguments, ImportStyle, Language

LANGUAGES = (
    Language(
        name="rust",
        title="Rust",
        grammar="tree_sitter_rust",
        files=".rs",
        imports=ImportStyle.RUST,
        repairs="MACROS",
        builtins="""
        Some None Ok Err Box Vec String Arc Rc Option Result unwrap expect clone into iter map collect to_string
        to_owned println print eprintln format vec panic assert assert_eq assert_ne write writeln matches todo
        unreachable
    """,
        library="std core alloc",
        super="",
        bare_members=False,
        implicit="""
        add add_assign bitand bitor bitxor clone cmp default deref deref_mut div drop eq fmt from from_str hash index
        index_mut into_iter mul ne neg next not partial_cmp poll rem shl shr sub sub_assign try_from
    """,
        derived="Clone Copy Debug Default Eq Hash Ord PartialEq PartialOrd",
        arguments=Arguments(
            calls="call_expression",
            parameters="parameter self_parameter",
            uncounted="line_comment block_comment",
            tokens="token_tree token_repetition",
            spread="attribute_item",
            gives_receiver=True,
        ),
        blocks_implement=True,
        overrides_exactly=True,
        inner_modules=True,
        manifests="Cargo.toml",
        sources="src",
        public="pub",
        inline_tests="test tests",
        test_stem=False,
        test_mark="test]",
    ),
)
