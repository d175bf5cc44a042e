"""Records: what a run computed, and how it is stored."""
