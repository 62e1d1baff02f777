"""The server and its manifests, judged by the clients, validators and suites of others."""
