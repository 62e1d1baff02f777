"""Talks to the payment provider: authorise when an order is placed, capture when it leaves the house."""

from dataclasses import dataclass
from typing import Any

from stockroom.errors import PaymentDeclined
from stockroom.money import Money
from stockroom.payments.retry import retry_with_backoff


@dataclass(frozen=True)
class Authorisation:
    reference: str
    amount: Money


class PaymentGateway:
    """One account with the provider. Every call carries an idempotency key, so a repeated one moves no money twice."""

    def __init__(self, client: Any, account: str) -> None:
        self._client = client
        self._account = account

    def authorise(self, amount: Money, idempotency_key: str) -> str:
        """Block the amount on the customer's card and return the reference; raises PaymentDeclined."""
        answer = self._post("authorisations", idempotency_key, amount=amount.minor, currency=amount.currency)
        if answer["outcome"] != "approved":
            raise PaymentDeclined("the card was declined", reason=answer.get("reason", "unknown"))
        return str(answer["reference"])

    def capture(self, reference: str) -> None:
        """Take the amount that was blocked. A second capture of the same reference does nothing."""
        self._post(f"authorisations/{reference}/capture", f"capture-{reference}")

    def void(self, reference: str) -> None:
        """Unblock an amount that was never taken."""
        self._post(f"authorisations/{reference}/void", f"void-{reference}")

    def refund(self, reference: str, amount: Money) -> str:
        answer = self._post("refunds", f"refund-{reference}-{amount.minor}", of=reference, amount=amount.minor)
        return str(answer["reference"])

    def _post(self, path: str, idempotency_key: str, **body: object) -> dict[str, Any]:
        headers = {"Idempotency-Key": idempotency_key, "Account": self._account}
        answer: dict[str, Any] = retry_with_backoff(lambda: self._client.post(path, json=body, headers=headers))
        return answer
