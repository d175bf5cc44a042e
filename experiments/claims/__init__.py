"""The claims ledger: what the paper says, what was measured, and whether it holds here."""
