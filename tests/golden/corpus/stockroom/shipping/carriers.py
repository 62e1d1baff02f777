"""The carriers that we hand parcels to, behind one interface."""

from abc import ABC, abstractmethod
from typing import Any

from stockroom.orders.models import Address, Parcel, Shipment
from stockroom.shipping.retry import retry_with_backoff


class Carrier(ABC):
    """Books shipments and follows them."""

    name = ""
    max_weight_grams = 31_500

    def __init__(self, client: Any) -> None:
        self._client = client

    def accepts(self, parcel: Parcel) -> bool:
        return parcel.weight_grams <= self.max_weight_grams

    @abstractmethod
    def book(self, shipment: Shipment, to: Address) -> str:
        """Announce the shipment and return its tracking number."""

    def track(self, tracking_number: str) -> str:
        """Return where the parcel was last seen; asks again when the carrier's service hiccups."""
        return str(retry_with_backoff(lambda: self._client.get(f"track/{tracking_number}")["state"]))


class ParcelPost(Carrier):
    name = "parcel-post"

    def book(self, shipment: Shipment, to: Address) -> str:
        answer = self._client.post("labels", {"to": to.one_line(), "grams": shipment.weight_grams})
        return str(answer["barcode"])


class RoadFreight(Carrier):
    """Pallets: books a pick-up window instead of printing labels."""

    name = "road-freight"
    max_weight_grams = 800_000

    def book(self, shipment: Shipment, to: Address) -> str:
        pallets = -(-shipment.weight_grams // self.max_weight_grams)
        answer = self._client.post("pickups", {"pallets": pallets, "postcode": to.postcode, "country": to.country})
        return f"RF{answer['pickup']}"


class BikeCourier(Carrier):
    """Same day, inside the city ring only."""

    name = "bike-courier"
    max_weight_grams = 12_000

    def book(self, shipment: Shipment, to: Address) -> str:
        if not to.postcode.startswith("10"):
            raise ValueError(f"the bike does not go to {to.postcode}")
        return str(self._client.post("rides", {"to": to.one_line()})["ride"])


def carrier_for(shipment: Shipment, carriers: list[Carrier]) -> Carrier:
    """Return the first carrier that takes every parcel; raises LookupError when none does."""
    for carrier in carriers:
        if all(carrier.accepts(parcel) for parcel in shipment.parcels):
            return carrier
    raise LookupError(f"no carrier takes shipment {shipment.shipment_id}")
