"""The benchmarks: that they run, and that what they count is right."""
