"""Tests of what the package asks of the system."""
