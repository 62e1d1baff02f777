"""What is known of each language: a folder each, beside what all share."""
