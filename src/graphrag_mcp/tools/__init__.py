"""The tools' arguments, queries and answers, shared by the server, the command line and the page."""
