"""Regret: streams made to hurt, and measurement beside the theorems."""
