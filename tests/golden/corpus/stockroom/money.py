"""Amounts of money as whole minor units (cents), so that no sum ever depends on floating point."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

_EXPONENTS = {"EUR": 2, "USD": 2, "GBP": 2, "JPY": 0, "KWD": 3}


class CurrencyMismatch(ValueError):
    """Two amounts of different currencies were combined."""


@dataclass(frozen=True, order=False)
class Money:
    minor: int
    currency: str = "EUR"

    def __add__(self, other: "Money") -> "Money":
        self._require_same(other)
        return Money(self.minor + other.minor, self.currency)

    def __sub__(self, other: "Money") -> "Money":
        self._require_same(other)
        return Money(self.minor - other.minor, self.currency)

    def times(self, factor: Decimal | int) -> "Money":
        """Return the product, rounded half to even."""
        exact = Decimal(self.minor) * Decimal(factor)
        return Money(int(exact.quantize(Decimal(1), rounding=ROUND_HALF_EVEN)), self.currency)

    def split(self, weights: Sequence[int]) -> list["Money"]:
        """Divide the amount by weight without losing a cent: the largest remainders get what is left over."""
        total = sum(weights)
        if total <= 0:
            raise ValueError("weights must add up to more than zero")
        shares = [self.minor * weight // total for weight in weights]
        remainders = [self.minor * weight % total for weight in weights]
        left = self.minor - sum(shares)
        for index in sorted(range(len(weights)), key=lambda i: -remainders[i])[:left]:
            shares[index] += 1
        return [Money(share, self.currency) for share in shares]

    def _require_same(self, other: "Money") -> None:
        if self.currency != other.currency:
            raise CurrencyMismatch(f"{self.currency} and {other.currency}")


def parse_money(text: str, currency: str = "EUR") -> Money:
    """Read "12.50" as 1250 cents; raises ValueError when the text has more decimals than the currency."""
    exponent = _EXPONENTS.get(currency, 2)
    try:
        scaled = Decimal(text.replace(",", "")).scaleb(exponent)
    except InvalidOperation:
        raise ValueError(f"{text!r} is not an amount") from None
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{text!r} has too many decimals for {currency}")
    return Money(int(scaled), currency)


def format_money(amount: Money) -> str:
    exponent = _EXPONENTS.get(amount.currency, 2)
    return f"{Decimal(amount.minor).scaleb(-exponent):,.{exponent}f} {amount.currency}"
