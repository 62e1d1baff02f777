"""Reservations: the last unit goes to one order, and promises run out."""

from datetime import timedelta

from stockroom.inventory.reservations import (
    expire_reservations,
    extend_reservation,
    release_reservation,
    reserve_stock,
)


def test_the_last_unit_is_promised_once(stock, now):
    assert reserve_stock(stock, 1, "MUG-2002", 1, now=now)
    assert not reserve_stock(stock, 2, "MUG-2002", 1, now=now)


def test_the_row_is_locked_before_it_is_read(stock, now):
    reserve_stock(stock, 1, "TEA-1001", 1, now=now)
    assert stock.locked == ["TEA-1001"]


def test_an_expired_reservation_no_longer_counts(stock, now):
    assert reserve_stock(stock, 1, "MUG-2002", 1, minutes=20, now=now)
    assert reserve_stock(stock, 2, "MUG-2002", 1, now=now + timedelta(minutes=21))


def test_expire_reservations_counts_what_it_removed(stock, now):
    reserve_stock(stock, 1, "TEA-1001", 2, minutes=5, now=now)
    reserve_stock(stock, 2, "TEA-1001", 1, minutes=50, now=now)
    assert expire_reservations(stock, ["TEA-1001"], now + timedelta(minutes=10)) == 1


def test_releasing_twice_is_no_error(stock, now):
    reserve_stock(stock, 1, "TEA-1001", 2, now=now)
    assert release_reservation(stock, 1, "TEA-1001")
    assert not release_reservation(stock, 1, "TEA-1001")


def test_extending_moves_the_end(stock, now):
    reserve_stock(stock, 1, "TEA-1001", 2, minutes=20, now=now)
    longer = extend_reservation(stock, 1, "TEA-1001", 10)
    assert longer is not None
    assert longer.expires_at == now + timedelta(minutes=30)
