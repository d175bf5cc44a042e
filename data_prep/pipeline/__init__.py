"""What every stage shares: the contract of a data set, places, files, sources, randomness."""
