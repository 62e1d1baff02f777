"""What every text passes before it is stored or shown: decoding, masking of secrets, words."""
