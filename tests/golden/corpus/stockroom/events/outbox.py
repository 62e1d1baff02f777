"""The transactional outbox: events are written in the transaction that causes them and delivered afterwards."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from stockroom.db.unit_of_work import UnitOfWork
from stockroom.events.bus import EventBus

MAX_ATTEMPTS = 8

_log = logging.getLogger(__name__)


def append_event(work: UnitOfWork, event_type: str, payload: Mapping[str, object]) -> None:
    """Write an event beside the change it tells of; it exists if and only if the change does."""
    work.connection.execute(
        "INSERT INTO outbox (event_type, payload) VALUES (%s, %s)", (event_type, json.dumps(payload))
    )


class OutboxRelay:
    """Delivers what lies in the outbox, oldest first, at least once."""

    def __init__(self, connection: Any, bus: EventBus, batch: int = 100) -> None:
        self._connection = connection
        self._bus = bus
        self._batch = batch

    def deliver_pending(self) -> int:
        """Deliver one batch and return how many events left the table.

        Rows that another relay has locked are skipped. What fails is tried again, and parked after eight attempts.
        """
        rows = self._connection.fetch_all(
            "SELECT event_id, event_type, payload, attempts FROM outbox WHERE NOT parked"
            " ORDER BY event_id LIMIT %s FOR UPDATE SKIP LOCKED",
            (self._batch,),
        )
        delivered = 0
        for row in rows:
            if self._bus.publish(row["event_type"], json.loads(row["payload"])) == 0:
                self._connection.execute("DELETE FROM outbox WHERE event_id = %s", (row["event_id"],))
                delivered += 1
            else:
                self._postpone(row["event_id"], row["attempts"] + 1)
        return delivered

    def _postpone(self, event_id: int, attempts: int) -> None:
        parked = attempts >= MAX_ATTEMPTS
        if parked:
            _log.error("event %s is parked after %s attempts", event_id, attempts)
        self._connection.execute(
            "UPDATE outbox SET attempts = %s, parked = %s WHERE event_id = %s", (attempts, parked, event_id)
        )
