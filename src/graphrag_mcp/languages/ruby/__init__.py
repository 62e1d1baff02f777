"""Ruby."""

from graphrag_mcp.languages.language import Arguments, ImportStyle, Language

LANGUAGES = (
    Language(
        name="ruby",
        title="Ruby",
        grammar="tree_sitter_ruby",
        files=".rb .rake .ru .gemspec Rakefile Gemfile Vagrantfile Podfile Fastfile Brewfile",
        imports=ImportStyle.PATH,
        interpreters="ruby jruby",
        builtins="""
        puts print require require_relative raise new attr_accessor attr_reader attr_writer include extend
        private protected public each map freeze nil? to_s lambda proc loop
    """,
        constructors="initialize",
        calls_fields=True,
        capitals=True,
        arguments=Arguments(
            calls="call",
            parameters="identifier destructured_parameter",
            optional="optional_parameter",
            uncounted="keyword_parameter hash_splat_parameter block_parameter block_argument heredoc_body comment",
            together="pair hash_splat_argument",
            spread="splat_argument forward_argument",
            bare="method singleton_method",
        ),
        described="described_class",
        implicit="call coerce each hash inspect method_missing respond_to_missing? to_ary to_proc to_s to_str",
    ),
)
