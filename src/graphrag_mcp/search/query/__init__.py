"""Understands a query: its terms, names, categories and relations."""
