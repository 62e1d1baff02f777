"""The job that gives back stock which nobody has paid for."""

from datetime import UTC, datetime
from typing import Any

from stockroom.inventory.reservations import expire_reservations


def run_expiry(work: Any) -> int:
    """Remove the reservations that have run out, and return how many there were; runs every minute."""
    with work as transaction:
        removed = expire_reservations(transaction.stock, transaction.stock.reserved_skus(), datetime.now(UTC))
        transaction.commit()
        return removed
