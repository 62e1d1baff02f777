"""Bearer tokens: signed, expiring, and valid across a rotation of the keys."""

import pytest

from stockroom.auth.tokens import Claims, issue_token, rotate_signing_keys, verify_token
from stockroom.errors import TokenRejected

CLAIMS = Claims(user_id=7, role="clerk", expires_at=2_000)


def test_what_was_issued_can_be_verified():
    assert verify_token(issue_token(CLAIMS, ["k1"]), ["k1"], now=1_000) == CLAIMS


def test_an_expired_token_is_rejected():
    with pytest.raises(TokenRejected, match="expired"):
        verify_token(issue_token(CLAIMS, ["k1"]), ["k1"], now=2_000)


def test_a_token_outlives_one_rotation_and_not_two():
    token = issue_token(CLAIMS, ["k1"])
    once = rotate_signing_keys(["k1"], "k2")
    assert verify_token(token, once, now=1_000) == CLAIMS
    with pytest.raises(TokenRejected, match="unknown key"):
        verify_token(token, rotate_signing_keys(once, "k3"), now=1_000)


@pytest.mark.parametrize("token", ["", "no-dot", "a.b.c"])
def test_a_malformed_token_is_rejected(token):
    with pytest.raises(TokenRejected):
        verify_token(token, ["k1"], now=1_000)
