"""Every figure and table of the paper, from bundles: replays, records, statistics, plots."""
