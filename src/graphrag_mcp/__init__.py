"""Code-aware semantic search over a repository, as an MCP stdio server."""

import os

__version__ = "0.1.0"

# One vector times a matrix is bound by memory: more BLAS threads only spin, and take the cores that parse files. It has
# to be set before numpy is imported, in the parsing processes too.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# onnxruntime, which only other models need, would name this machine to its maker as soon as it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
