"""Stores passwords as salted, slow hashes."""

import hashlib
import hmac
import secrets

ALGORITHM = "pbkdf2_sha256"
ROUNDS = 120_000


def hash_password(password: str, rounds: int = ROUNDS) -> str:
    """Return algorithm, rounds, salt and digest in one string, ready for the users table."""
    salt = secrets.token_hex(16)
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), bytes.fromhex(salt), rounds)
    return f"{ALGORITHM}${rounds}${salt}${digest.hex()}"


def verify_password(password: str, stored: str) -> bool:
    """Tell whether the password is the one that was stored, in constant time."""
    algorithm, rounds, salt, digest = stored.split("$")
    if algorithm != ALGORITHM:
        return False
    computed = hashlib.pbkdf2_hmac("sha256", password.encode(), bytes.fromhex(salt), int(rounds))
    return hmac.compare_digest(computed.hex(), digest)


def needs_rehash(stored: str, rounds: int = ROUNDS) -> bool:
    """Tell whether a hash is weaker than what we would write today."""
    algorithm, stored_rounds, _, _ = stored.split("$")
    return algorithm != ALGORITHM or int(stored_rounds) < rounds
