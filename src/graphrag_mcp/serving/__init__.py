"""What clients and browsers talk to: the Model Context Protocol on standard input and output, and the page."""
