"""Reads from the grammar of a question whether it is about the project, and not about what its code does.

Licence, supported versions, installation, tests, continuous integration, releases and contribution are stated in
documents and configuration. "how is the build cached" asks for code, "how do I build it" does not.
"""

import re

_US = r"(?:i|we|you|one|someone)"  # The people who use or change the project.
_HOW_DO_I = rf"\b(?:how (?:do|can|could|should|must|would|may) {_US}|how to|(?:do|must|should) {_US}|steps to)\b"
_WORDS = r"(?:\S+ ){0,3}"
_A = r"(?:a |an |the |new |my |our )*"
_PROJECT = r"(?:project|library|package|framework|repo\w*|tool|software|code ?base)"
_BUILT = rf"(?:{_PROJECT}|docs|documentation|app\w*|binary|binaries|site|environment)"
_PROTOCOL = r"(?:tls|ssl|http|protocol|api|schema)"  # Their versions are a matter of code.
_RELEASED = r"(?:v\d+|\d+\.[\dx]|(?:version|release) \d)[\w.]*"
_CHANGED = r"(?:change[ds]?|differences?|migrat\w+|upgrad\w+|updat\w+|new)"

_LICENCE = (
    r"\b(?:un|re)?licen[cs]ed (?:under|as|by|for)\b",
    r"\b(?:un|re)?licen[cs]ed[?.]?$",
    r"^licen[cs](?:e|ing)[?]?$",
    (
        rf"\b(?:which|what|under|its|our|this|{_PROJECT}(?:'s)?) {_WORDS}licen[cs]es?"
        r"(?:$|[?,.]| (?:of|do|does|is|are|may|can|for)\b)"
    ),
    r"\b(?:commercially|commercial (?:use|products?|projects?)|closed.source|copyright holder)\b",
)
_VERSIONS = (
    r"\b(?:minimum|minimal|lowest|oldest|latest) supported\b",
    r"\bmsrv\b|\bend.of.life\b",
    rf"\b(?:minimum|lowest|oldest|required|supported) (?!{_PROTOCOL}){_WORDS}versions?\b",
    rf"\b(?:which|what) (?!{_PROTOCOL}){_WORDS}versions? .*\b(?:support\w*|need\w*|requir\w*|compatible|{_US})\b",
    rf"\b(?:which|what|supported) {_WORDS}(?:platforms|operating systems|browsers|compilers|architectures)\b",
)
_INSTALLATION = (
    r"\binstallation\b|\binstall \S+ (?:with|via|using|through|from)\b",
    (
        rf"{_HOW_DO_I} .*\b(?:install|build|compile|upgrade|update|set up)"
        rf"(?:$|[?]| (?:it|this|from source|(?:the|this|our) {_WORDS}{_BUILT}))"
    ),
    rf"\b(?:build\w*|built|compil\w+|install\w*) {_WORDS}from (?:the )?sources?\b",
    r"\b(?:packages?|dependenc(?:y|ies)|extras?|libraries|tools?) .*\b(?:to install|to be installed|i install)\b",
    r"\binstall(?:ed)?\b .*\b(?:packages?|dependenc(?:y|ies)|extras?)\b",
)
_TESTING = (
    rf"{_HOW_DO_I} .*\brun .*\b(?:tests?|test suite|specs?|benchmarks?|linters?)\b",
    r"\bto run the (?:tests?|test suite|specs?|benchmarks?)\b",
    r"\bci (?:runs?|uses?|checks?|matrix|tests?|builds?)\b|\b(?:in|on|by) (?:the |our )?ci(?:$|[?])",
    r"\bcontinuous integration\b",
)
_RELEASES = (
    rf"\bhow (?:is|are) {_A}(?:releases?|versions?) (?:made|cut|published|done|created|built|prepared|tagged)\b",
    rf"{_HOW_DO_I} (?:make|cut|publish|do|create|prepare|tag) {_A}(?:release|version)\b",
    r"\brelease (?:process|procedure|checklist|schedule|cycle|policy|steps)\b",
    (
        r"\b(?:which|what) (?:release|version) "
        r"(?:did|was|were|has|have|had|introduced|added|removed|changed|dropped|deprecated|fixed)\b"
    ),
    r"\bsince (?:which|what) (?:release|version)\b|\b(?:breaking changes?|what(?:'s| is| has)? new)\b",
    rf"\b(?:what|which|how|breaking) .*\b{_CHANGED} .*\b{_RELEASED}(?:$|[?,. ])",
    (
        rf"\b{_CHANGED} (?:between|in|since|with) (?:the )?(?:last|latest|newest|previous|next|current) "
        r"(?:release|version)\b"
    ),
)
_CONTRIBUTION = (
    r"\bcontribut(?:e|ing|ors?|ion guide\w*)\b|\bcode of conduct\b",
    r"\b(?:coding|code) (?:style|standards?|conventions?)\b",
    rf"\b(?:open|submit|send|propose) {_A}(?:pull request|merge request|patch)\b",
    r"\b(?:rules|guidelines?|checklist) (?:for|of) (?:pull|merge) request",
    rf"\breport\w* {_A}(?:security\b|vulnerabilit|bugs?\b)|\bsecurity (?:problems?|issues?|contact)\b",
)
_ABOUT_PROJECT = re.compile("|".join((*_LICENCE, *_VERSIONS, *_INSTALLATION, *_TESTING, *_RELEASES, *_CONTRIBUTION)))


def asks_about_project(text: str) -> bool:
    """Return whether a question is about the project itself."""
    return _ABOUT_PROJECT.search(" ".join(text.lower().split())) is not None
