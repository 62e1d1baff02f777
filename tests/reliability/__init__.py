"""What docs/limits.md promises: a short form of every figure in `make test-all`, the whole in `make soak`."""
