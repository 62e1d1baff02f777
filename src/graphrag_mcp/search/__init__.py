"""From a query to a result: understand, gather, score, select, enrich."""
