"""The report: every result on one page."""
