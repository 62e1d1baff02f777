"""Where the index lives: one folder per backend, one module per role of `ports`."""
