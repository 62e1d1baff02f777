"""Every place of a text in the files themselves."""
