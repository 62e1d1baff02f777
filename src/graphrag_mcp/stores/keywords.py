"""Which words of a query a keyword index looks for."""

from collections.abc import Iterable

# Scoring a chunk takes about 1.5 µs, and the common terms of a query match most chunks while they tell least. So terms
# are taken from the rarest on, until these limits; measured, all terms would be no better.
COMMON_SHARE = 1 / 2  # Of all chunks: BM25 gives a term in half of them the weight 0.
SCORED_CHUNKS = 1_500
SCORED_SHARE = 1 / 20  # In a large index.
TERMS_KEPT = 2  # Whatever they cost.


def discriminative_terms(frequencies: Iterable[tuple[int, str]], chunks: int) -> list[str]:
    """Return the terms that are worth their time, rarest first; the rarest one always.

    frequencies: of each term, in how many of the `chunks` it is.
    """
    budget = max(SCORED_CHUNKS, SCORED_SHARE * chunks)
    chosen: list[str] = []
    for frequency, term in sorted(frequencies):
        budget -= frequency
        if (len(chosen) >= TERMS_KEPT and budget < 0) or (chosen and frequency > COMMON_SHARE * chunks):
            break
        if frequency:
            chosen.append(term)
    return chosen
