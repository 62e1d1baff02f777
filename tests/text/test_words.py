"""The words that the keyword index and the queries share."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_mcp.text.words import directory_words, identifier_parts, index_words, query_words, stem_words


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("HTTPServerError2", ("http", "server", "error", "2")),
        ("camelCase", ("camel", "case")),
        ("snake_case_name", ("snake", "case", "name")),
        ("kebab-case", ("kebab", "case")),
        ("SCREAMING_SNAKE", ("screaming", "snake")),
        ("XMLHttpRequest", ("xml", "http", "request")),
        ("getURLsFromIDs", ("get", "urls", "from", "ids")),
        ("HTTPSServer", ("https", "server")),
        ("sha256sum", ("sha", "256", "sum")),
        ("__init__", ("init",)),
        ("éclairÉtoile", ("éclair", "étoile")),
        ("имяФайла", ("имя", "файла")),
        ("变量", ("变量",)),
        ("___", ()),
        ("", ()),
    ],
)
def test_an_identifier_is_split_where_its_style_joins_words(identifier: str, parts: tuple[str, ...]) -> None:
    """Camel, Pascal, snake and kebab case, acronyms and their plurals, digits and letters of any script."""
    assert identifier_parts(identifier) == parts


@given(st.text(alphabet="aBcSs09_-. éÉиИ变", max_size=40))
@settings(derandomize=True, max_examples=200)
def test_no_letter_or_digit_is_lost_in_splitting(text: str) -> None:
    """The parts in sequence are the identifier without what joined them."""
    kept = "".join(character for character in text if character.isalnum())
    assert "".join(identifier_parts(text)) == kept.lower()


def test_an_identifier_is_indexed_whole_and_in_stemmed_parts() -> None:
    """A query may say the whole name or any word of it."""
    assert index_words("class RequestParsers:") == ["class", "requestparsers", "request", "parser"]


def test_each_occurrence_is_indexed() -> None:
    """BM25 counts how often a word occurs."""
    assert index_words("retry retry") == ["retry", "retri"] * 2


def test_encoded_data_is_not_indexed() -> None:
    """A run of hundreds of letters and digits is no name, and its parts are noise."""
    assert index_words("key = " + "aB3" * 100) == ["key"]


@pytest.mark.parametrize("identifier", ["HTTPServerError2", "read_only", "useState", "__init__", "x"])
def test_a_whole_identifier_in_a_query_meets_the_whole_identifier_in_the_index(identifier: str) -> None:
    """The first word of both is the identifier itself, in lower case."""
    query = query_words(f"where is {identifier} defined?")
    assert identifier.lower() in query
    assert identifier.lower() in index_words(f"def {identifier}(self)")


def test_a_plain_word_in_a_query_is_its_stem() -> None:
    """Every text that has the word has its stem too."""
    assert query_words("running") == ["run"]
    assert "run" in index_words("running")


def test_the_words_of_a_query_are_distinct_and_in_order_without_question_words() -> None:
    """Stop words would match every file."""
    assert query_words("How does the parser parse the Parser?") == ["parser", "pars"]


def test_a_query_of_nothing_but_question_words_keeps_them() -> None:
    """A search for "while" or "with" is still a search."""
    assert query_words("how is it") == ["how", "is", "it"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/http/RequestParser.java", ("request", "parser")),
        ("src/router/index.ts", ("router",)),
        ("src/user_store/mod.rs", ("user", "store")),
        ("pkg/sub/__init__.py", ("sub",)),
        ("cmd/server/main.go", ("server",)),
        ("index.js", ("index",)),
        ("web/login.test.ts", ("login", "test")),
        (".gitignore", ("gitignor",)),
        ("Makefile", ("makefil",)),
        ("COPYING", ("licens",)),
    ],
)
def test_the_words_of_a_file_are_those_of_its_stem_or_of_the_folder_it_stands_for(
    path: str, words: tuple[str, ...]
) -> None:
    """Files named index, mod, main, lib or `__init__` say nothing, their folder does."""
    assert stem_words(path) == words


def test_the_words_of_the_folders_are_distinct_and_in_order() -> None:
    """The file's own name is not among them."""
    assert directory_words("src/userAccounts/user/models.py") == ("src", "user", "account")
    assert directory_words("models.py") == ()


def test_threads_that_stem_at_the_same_time_do_not_disturb_one_another() -> None:
    """The stemmer works on its own state, and a search splits words in several threads."""
    texts = [" ".join(f"{stem}{number}ing{ending}" for number in "abcdefgh") for stem in ("walk", "jump", "connect")
             for ending in ("", "s", "ly", "ness")]  # fmt: skip
    results: dict[int, list[list[str]]] = {}

    def work(thread: int) -> None:
        results[thread] = [index_words(text) for text in texts]

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[thread] == [index_words(text) for text in texts] for thread in results)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("计算订单的总价格，包括税费。", "总价格"),
        ("计算订单的总价格，包括税费。", "订单价格怎么计算"),
        ("重跑gen后清零", "清零"),
        ("重跑gen后清零", "gen"),
        ("注文の合計金額を計算する", "合計金額"),
        ("キャッシュを更新する", "キャッシュ"),
        ("주문의 가격을 계산한다", "가격"),
        ("คำนวณราคาสินค้า", "ราคา"),
        ("def 计算总价(x)", "总价"),
    ],
)
def test_a_word_within_a_run_of_a_script_without_blanks_is_found(text: str, query: str) -> None:
    """Any two neighbours are a word, in the index and in the query."""
    assert set(query_words(query)) & set(index_words(text))


def test_a_sentence_without_blanks_is_no_word_by_itself() -> None:
    """It would be in no other text, and cost more than its pairs."""
    assert index_words("计算总价格") == ["计算", "算总", "总价", "价格"]


def test_letters_with_accents_are_no_pairs() -> None:
    """Only scripts without blanks are cut into pairs."""
    assert index_words("Größe café") == ["größe", "café"]
