"""Markdown and other prose: sections, links, and what a document declares about itself."""
