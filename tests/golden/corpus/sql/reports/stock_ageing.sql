-- Stock ageing: how much of what lies on the shelves has not moved for 30, 90 and 180 days, by value.
WITH last_movement AS (
    SELECT sku, max(booked_at) AS moved_at
    FROM stock_movements
    WHERE movement = 'pick'
    GROUP BY sku
)
SELECT
    levels.sku,
    levels.on_hand,
    CASE
        WHEN moved.moved_at > now() - interval '30 days' THEN 'moving'
        WHEN moved.moved_at > now() - interval '90 days' THEN 'slow'
        WHEN moved.moved_at > now() - interval '180 days' THEN 'ageing'
        ELSE 'dead'
    END AS age_class
FROM stock_levels AS levels
LEFT JOIN last_movement AS moved USING (sku)
WHERE levels.on_hand > 0
ORDER BY moved.moved_at NULLS FIRST;
