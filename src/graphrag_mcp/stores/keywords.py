"""Weighs the terms of a query, and chooses those that a keyword index looks up."""

import math

from graphrag_mcp.model.search import Frequencies

# Common terms match most chunks and discriminate least, and scoring a chunk takes about 1.5 µs. So terms are taken from
# the rarest on, up to these limits; by measurement, taking all terms does not help.
COMMON_SHARE = 1 / 2  # The BM25 weight of a term in half of all chunks is 0.
SCORED_CHUNKS = 1_500
SCORED_SHARE = 1 / 20  # A large index scores this share of its chunks.
NO_WEIGHT = 1e-6  # A term in half of all chunks or more has this weight, as in SQLite's bm25().
TERMS_KEPT = 2  # The rarest two terms are looked up whatever their frequency.


def discriminative_terms(frequencies: Frequencies) -> Frequencies:
    """Return the terms to look up, rarest first; the rarest one always."""
    chunks = frequencies.chunks
    budget = max(SCORED_CHUNKS, SCORED_SHARE * chunks)
    chosen: dict[str, int] = {}
    for frequency, term in sorted((count, term) for term, count in frequencies.of_terms.items()):
        budget -= frequency
        if (len(chosen) >= TERMS_KEPT and budget < 0) or (chosen and frequency > COMMON_SHARE * chunks):
            break
        if frequency:
            chosen[term] = frequency
    return Frequencies(chosen, chunks)


def any_term(frequencies: Frequencies) -> str:
    """Return the FTS5 query for any of the terms to look up; "" where there are none."""
    terms = (term.replace('"', '""') for term in discriminative_terms(frequencies).of_terms)
    return " OR ".join(f'"{term}"' for term in terms)


def idf(count: int, chunks: int) -> float:
    """Return the weight of a term that `count` of the `chunks` have; the formula of SQLite's bm25()."""
    return max(math.log((max(chunks - count, 0) + 0.5) / (count + 0.5)), NO_WEIGHT)
