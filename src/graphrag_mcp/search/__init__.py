"""From a question to an answer: understand, retrieve, fuse, boost, thin out, add the context."""
