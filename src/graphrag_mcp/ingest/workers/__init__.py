"""The processes that parse files, and the quarantine of files that ended one."""
