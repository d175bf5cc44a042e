"""From records to tables."""
