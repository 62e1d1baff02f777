"""HTTP routes of stock."""

from typing import Any

from stockroom.auth.permissions import requires
from stockroom.inventory.levels import Movement, adjust_level, low_stock
from stockroom.reports.csv_export import write_csv


@requires("stock.read")
def list_low_stock(request: Any) -> list[dict[str, Any]]:
    """Return the articles that have to be bought, the emptiest shelf first."""
    return [{"sku": level.sku, "on_hand": level.on_hand} for level in low_stock(request.stock.levels())]


@requires("stock.adjust")
def correct_stock(request: Any) -> dict[str, Any]:
    """Change a level by hand; a note is required, since the auditors ask."""
    body = request.json
    if not body.get("note"):
        raise ValueError("say why the level is corrected")
    level = adjust_level(request.work.connection, body["sku"], int(body["change"]), Movement(body["why"]), body["note"])
    return {"sku": body["sku"], "on_hand": level}


@requires("report.read")
def download_stock(request: Any) -> str:
    return write_csv(("sku", "on_hand"), ((level.sku, level.on_hand) for level in request.stock.levels()))


ROUTES = (
    ("GET", "stock/low", list_low_stock),
    ("POST", "stock/corrections", correct_stock),
    ("GET", "stock.csv", download_stock),
)
