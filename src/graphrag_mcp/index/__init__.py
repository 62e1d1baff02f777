"""One index over its life: its location, its writer and its runs, its copies on servers, the freshness of an answer."""
