"""The processes that parse files, and the files that end one."""
