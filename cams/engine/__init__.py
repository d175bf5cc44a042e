"""The compiled twin of the learners: same decisions, many times faster."""
