"""The outbox: at least once, in order, and no event without its change."""

import pytest

from stockroom.db.unit_of_work import UnitOfWork
from stockroom.events.bus import EventBus
from stockroom.events.outbox import MAX_ATTEMPTS, OutboxRelay, append_event

pytestmark = pytest.mark.database


def test_a_rolled_back_transaction_leaves_no_event(pool):
    with UnitOfWork(pool) as work:
        append_event(work, "order.placed", {"order_id": 1})
    with pool.connection() as connection:
        assert OutboxRelay(connection, EventBus()).deliver_pending() == 0


def test_an_event_whose_handler_fails_is_parked_after_eight_attempts(pool):
    bus = EventBus()
    bus.subscribe("order.placed", lambda payload: 1 / 0)
    with UnitOfWork(pool) as work:
        append_event(work, "order.placed", {"order_id": 1})
        work.commit()
    with pool.connection() as connection:
        relay = OutboxRelay(connection, bus)
        for _ in range(MAX_ATTEMPTS):
            relay.deliver_pending()
        assert connection.fetch_value("SELECT parked FROM outbox")
