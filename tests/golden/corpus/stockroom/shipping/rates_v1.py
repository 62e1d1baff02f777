"""Quotes by actual weight only. Nothing calls this any more: the March price list charges for volume, see `rates`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stockroom.money import Money
from stockroom.orders.models import Parcel


@dataclass(frozen=True)
class Quote:
    carrier: str
    price: Money
    days: int


@dataclass(frozen=True)
class RateCard:
    """What a carrier charges: a base price by zone, and a price for each kilogram begun."""

    carrier: str
    base: Mapping[str, int]
    per_kilogram: int
    days: int


def chargeable_weight(parcel: Parcel) -> int:
    return parcel.weight_grams


def quote_rates(parcels: Sequence[Parcel], zone: str, cards: Sequence[RateCard]) -> list[Quote]:
    """Return a quote of every carrier that serves the zone, the cheapest first."""
    quotes: list[Quote] = []
    for card in cards:
        if zone not in card.base:
            continue
        kilograms = sum(-(-chargeable_weight(parcel) // 1_000) for parcel in parcels)
        quotes.append(Quote(card.carrier, Money(card.base[zone] + card.per_kilogram * kilograms), card.days))
    return sorted(quotes, key=lambda quote: quote.price.minor)
