"""A small project of our own with a history, to train on."""

import subprocess
from pathlib import Path

STORE = '''"""A store of sessions."""


class SessionStore:
    def save_session(self, session, seconds):
        """Keeps the session for so many seconds and forgets the oldest one when the store is full."""
        self.entries[session.key] = session
        # the oldest entry goes first when there is no room
        while len(self.entries) > self.capacity:
            oldest = min(self.entries, key=self.age)
            del self.entries[oldest]
        return session.key

    def load_session(self, key):
        session = self.entries.get(key)
        if session is None or session.expired:
            raise KeyError(key)
        return session
'''
TESTS = """from store import SessionStore


def test_save_session_forgets_the_oldest():
    store = SessionStore()
    store.save_session(make("a"), 1)
    store.save_session(make("b"), 1)
    assert len(store.entries) == 1
"""
README = """# Sessions

## Expiry of sessions

A session that was not used for a while expires. The store never returns one that has expired; it raises an error that
names the key, so that the caller can begin a new one.
"""
ROUTES = """package routes

// Match finds the handler whose pattern has the longest prefix of the path.
func Match(path string) Handler {
	best := Handler{}
	for _, route := range routes {
		if strings.HasPrefix(path, route.Prefix) && len(route.Prefix) > len(best.Prefix) {
			best = route
		}
	}
	return best
}
"""


def make_project(folder: Path) -> Path:
    """Write the project into `folder`, with two commits, and return it."""
    files = {"store.py": STORE, "test_store.py": TESTS, "README.md": README, "routes.go": ROUTES}
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    _git(folder, "init", "--quiet")
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "-m", "Start")
    (folder / "store.py").write_text(STORE.replace("session.expired", "session.is_expired(self.clock)"))
    _git(folder, "commit", "--quiet", "-am", "fix(store): Ask the clock whether a session has expired (#12)")
    return folder


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)
