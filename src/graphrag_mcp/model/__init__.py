"""What passes between the parts: frozen values, free of I/O."""
