"""Measures the search: queries with known answers, scores, comparisons and the reasons for misses."""
