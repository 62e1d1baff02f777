"""What a query asks for."""
