"""Quotes for a shipment: chargeable weight, zones and the fuel surcharge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from stockroom.money import Money
from stockroom.orders.models import Parcel

VOLUMETRIC_DIVISOR = 5_000  # cubic centimetres per kilogram
FUEL_SURCHARGE = Decimal("0.085")


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


def volumetric_weight(parcel: Parcel) -> int:
    """Return the grams that a carrier charges for the space a parcel takes up."""
    cubic_centimetres = parcel.length_mm * parcel.width_mm * parcel.height_mm // 1_000
    return cubic_centimetres * 1_000 // VOLUMETRIC_DIVISOR


def chargeable_weight(parcel: Parcel) -> int:
    return max(parcel.weight_grams, volumetric_weight(parcel))


def quote_rates(parcels: Sequence[Parcel], zone: str, cards: Sequence[RateCard]) -> list[Quote]:
    """Return a quote of every carrier that serves the zone, the cheapest first."""
    quotes: list[Quote] = []
    for card in cards:
        if zone not in card.base:
            continue
        kilograms = sum(-(-chargeable_weight(parcel) // 1_000) for parcel in parcels)
        bare = Money(card.base[zone] * len(parcels) + card.per_kilogram * kilograms)
        quotes.append(Quote(card.carrier, bare + bare.times(FUEL_SURCHARGE), card.days))
    return sorted(quotes, key=lambda quote: (quote.price.minor, quote.days))


def cheapest_within(quotes: Sequence[Quote], days: int) -> Quote | None:
    """Return the cheapest quote that arrives in time."""
    return next((quote for quote in quotes if quote.days <= days), None)
