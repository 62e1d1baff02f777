"""Puts the HTTP application together: middleware outside, routes inside."""

from collections.abc import Callable
from typing import Any

from stockroom.api import routes_orders, routes_stock
from stockroom.api.middleware import authenticate_request, limit_rate, with_request_id
from stockroom.db.pool import ConnectionPool
from stockroom.errors import NotFound, StockroomError, to_problem
from stockroom.settings import Settings

Route = Callable[..., Any]


class Application:
    """Maps a method and a path to a route."""

    def __init__(self, settings: Settings, pool: ConnectionPool) -> None:
        self.settings = settings
        self.pool = pool
        self._routes: dict[tuple[str, str], Route] = {}

    def add(self, method: str, path: str, route: Route) -> None:
        self._routes[method, path] = route

    def handle(self, request: Any) -> tuple[int, Any]:
        """Return status and body; what we raise on purpose becomes a problem document, the rest a 500."""
        try:
            route = self._routes.get((request.method, request.path))
            if route is None:
                raise NotFound(f"no route for {request.method} {request.path}")
            return 200, route(request)
        except StockroomError as error:
            return error.http_status, to_problem(error)


def create_app(settings: Settings, pool: ConnectionPool) -> Application:
    """Return the application with all its routes, each behind authentication and the rate limit."""
    app = Application(settings, pool)
    for method, path, route in (*routes_orders.ROUTES, *routes_stock.ROUTES):
        guarded = authenticate_request(route, settings.auth)
        app.add(method, path, with_request_id(limit_rate(guarded, settings.rate_limit_per_minute)))
    app.add("GET", "health", lambda request: {"database": pool.health_check()})
    return app
