"""The frozen values that pass between the parts."""
