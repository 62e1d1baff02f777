"""The circuit breaker, with a scripted clock."""

import pytest

from graphrag_mcp.errors import ServerError
from graphrag_mcp.stores.breaker import COOLDOWN_SECONDS, CircuitBreaker


class ScriptedClock:
    """A clock that moves when the test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> ScriptedClock:
    """A clock at a second that is not zero."""
    return ScriptedClock()


def test_calls_are_allowed_before_the_first_failure() -> None:
    """A clock that starts at zero or below does not look like a cooldown."""
    for start in (-5.0, 0.0, COOLDOWN_SECONDS / 2):
        clock = ScriptedClock()
        clock.seconds = start
        breaker = CircuitBreaker(clock)
        breaker.check()
        assert breaker.problem == ""


def test_a_failure_refuses_calls_with_its_reason_until_the_cooldown_ends(clock: ScriptedClock) -> None:
    """The last moment of the cooldown still refuses; the first moment after it allows."""
    breaker = CircuitBreaker(clock)
    breaker.record_failure("no answer within 1.2 s")
    clock.seconds += COOLDOWN_SECONDS - 0.001
    assert breaker.problem == "no answer within 1.2 s"
    with pytest.raises(ServerError, match=r"no answer within 1\.2 s"):
        breaker.check()
    clock.seconds += 0.001
    breaker.check()
    assert breaker.problem == ""


def test_a_failure_during_the_cooldown_does_not_prolong_it(clock: ScriptedClock) -> None:
    """Calls that were under way when the first one failed end later, and must not keep the server out of use."""
    breaker = CircuitBreaker(clock)
    breaker.record_failure("first")
    clock.seconds += COOLDOWN_SECONDS / 2
    breaker.record_failure("second")
    assert breaker.problem == "first"
    clock.seconds += COOLDOWN_SECONDS / 2
    assert breaker.problem == ""


def test_a_failure_after_the_cooldown_starts_another(clock: ScriptedClock) -> None:
    """A server that is still down is left alone again."""
    breaker = CircuitBreaker(clock)
    breaker.record_failure("first")
    clock.seconds += COOLDOWN_SECONDS
    breaker.record_failure("second")
    clock.seconds += COOLDOWN_SECONDS / 2
    assert breaker.problem == "second"
