"""Markdown and other prose: sections, links and what a document says of itself."""
