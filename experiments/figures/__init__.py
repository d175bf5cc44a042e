"""From records to figures."""
