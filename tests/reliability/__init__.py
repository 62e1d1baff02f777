"""What docs/reliability.md promises: a short form of every figure in `make test`, the whole in `make soak`."""
