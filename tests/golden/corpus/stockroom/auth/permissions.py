"""Who may do what: roles, the actions that each may take, and a decorator for the routes."""

import functools
from collections.abc import Callable
from typing import Any

from stockroom.errors import PermissionDenied

ROLES: dict[str, frozenset[str]] = {
    "picker": frozenset({"stock.read", "order.pick"}),
    "clerk": frozenset({"stock.read", "order.read", "order.place", "order.cancel"}),
    "manager": frozenset({"stock.read", "stock.adjust", "order.read", "order.place", "order.cancel", "report.read"}),
}


def is_allowed(role: str, action: str) -> bool:
    """Tell whether a role may take an action; an administrator may take all."""
    return role == "admin" or action in ROLES.get(role, frozenset())


def requires(action: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Guard a route: the request's role has to allow the action, else PermissionDenied."""

    def decorate(route: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(route)
        def guarded(request: Any, *arguments: Any, **options: Any) -> Any:
            if not is_allowed(request.claims.role, action):
                raise PermissionDenied(f"{request.claims.role} may not {action}", action=action)
            return route(request, *arguments, **options)

        return guarded

    return decorate
