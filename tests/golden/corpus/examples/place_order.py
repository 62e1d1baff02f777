"""Places an order over HTTP, waits until it has left the house, and prints its tracking number."""

import json
import os
import time
import urllib.request

BASE = os.environ.get("STOCKROOM_URL", "http://localhost:8080")


def call(method, path, body=None):
    """Send one request with the bearer token from the environment and return what came back."""
    request = urllib.request.Request(
        f"{BASE}/{path}",
        method=method,
        data=json.dumps(body).encode() if body is not None else None,
        headers={"Authorization": f"Bearer {os.environ['STOCKROOM_TOKEN']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def place_order():
    order = call("POST", "orders", {"lines": [{"sku": "TEA-1001", "quantity": 2, "price": 899, "tax": "food"}]})
    while order["status"] not in ("shipped", "cancelled"):
        time.sleep(30)
        order = call("GET", f"orders/{order['id']}")
    return order


if __name__ == "__main__":
    print(place_order())
