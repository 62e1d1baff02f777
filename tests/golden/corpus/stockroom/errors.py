"""Errors that cross package borders. Every one has a code that the API shows to its clients."""


class StockroomError(Exception):
    """The base of everything we raise on purpose."""

    code = "internal"
    http_status = 500

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.details = details


class NotFound(StockroomError):
    code = "not_found"
    http_status = 404


class OutOfStock(StockroomError):
    """Fewer units can be promised than were asked for."""

    code = "out_of_stock"
    http_status = 409


class InvalidTransition(StockroomError):
    """An order cannot go from its state to the one that was asked for."""

    code = "invalid_transition"
    http_status = 409


class PaymentDeclined(StockroomError):
    code = "payment_declined"
    http_status = 402


class PermissionDenied(StockroomError):
    code = "forbidden"
    http_status = 403


class TokenRejected(StockroomError):
    """A bearer token is malformed, expired or signed with a key we no longer trust."""

    code = "invalid_token"
    http_status = 401


class TooManyRequests(StockroomError):
    code = "rate_limited"
    http_status = 429


def to_problem(error: StockroomError) -> dict[str, object]:
    """Return the JSON body that describes an error to an API client."""
    return {"code": error.code, "message": str(error), "details": error.details}
