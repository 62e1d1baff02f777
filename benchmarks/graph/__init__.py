"""Measures relations beside compilers and type checkers."""
