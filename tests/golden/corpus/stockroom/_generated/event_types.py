# Code generated from schema/events.yaml by tools/generate_events.py. DO NOT EDIT.

ORDER_PLACED = "order.placed"
ORDER_PICKING = "order.picking"
ORDER_SHIPPED = "order.shipped"
ORDER_CANCELLED = "order.cancelled"
STOCK_LOW = "stock.low"
STOCK_COUNTED = "stock.counted"

ALL_EVENT_TYPES = (
    ORDER_PLACED,
    ORDER_PICKING,
    ORDER_SHIPPED,
    ORDER_CANCELLED,
    STOCK_LOW,
    STOCK_COUNTED,
)
