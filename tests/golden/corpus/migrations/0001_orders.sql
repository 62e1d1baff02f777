-- Orders: the body is the JSON that the API shows; what is searched by has a column of its own.
CREATE SEQUENCE order_ids START 1000;

CREATE TABLE orders (
    order_id bigint PRIMARY KEY,
    body jsonb NOT NULL,
    status text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    payment_reference text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX orders_open ON orders (status, created_at) WHERE status IN ('placed', 'paid', 'picking');

-- The transactional outbox; parked rows wait for a person.
CREATE TABLE outbox (
    event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_type text NOT NULL,
    payload jsonb NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    parked boolean NOT NULL DEFAULT false,
    written_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX outbox_waiting ON outbox (event_id) WHERE NOT parked;
