"""A trial of coding agents with and without these tools."""
