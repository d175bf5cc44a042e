"""What the tabular data sets share."""
