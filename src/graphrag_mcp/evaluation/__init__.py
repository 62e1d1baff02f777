"""How good the search is: queries whose answers are known, measures, comparisons and the reasons of misses."""
