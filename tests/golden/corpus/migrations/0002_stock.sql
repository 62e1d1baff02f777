-- Stock levels, their ledger, and the reservations that hold units for an order.
CREATE TABLE stock_levels (
    sku text PRIMARY KEY,
    on_hand integer NOT NULL CHECK (on_hand >= 0),
    reorder_point integer NOT NULL DEFAULT 0,
    target integer NOT NULL DEFAULT 0
);

CREATE TABLE stock_movements (
    movement_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sku text NOT NULL REFERENCES stock_levels,
    change integer NOT NULL CHECK (change <> 0),
    movement text NOT NULL,
    note text NOT NULL DEFAULT '',
    booked_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE reservations (
    order_id bigint NOT NULL,
    sku text NOT NULL REFERENCES stock_levels,
    units integer NOT NULL CHECK (units > 0),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (order_id, sku)
);

CREATE INDEX reservations_by_end ON reservations (expires_at);
