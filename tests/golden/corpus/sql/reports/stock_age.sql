-- Stock age: how much of what lies on the shelves has not moved for 30 and 180 days.
WITH last_movement AS (
    SELECT sku, max(booked_at) AS moved_at
    FROM stock_movements
    GROUP BY sku
)
SELECT
    levels.sku,
    levels.on_hand,
    CASE
        WHEN moved.moved_at > now() - interval '30 days' THEN 'moving'
        WHEN moved.moved_at > now() - interval '180 days' THEN 'ageing'
        ELSE 'dead'
    END AS age_class
FROM stock_levels AS levels
LEFT JOIN last_movement AS moved USING (sku)
ORDER BY moved.moved_at;
