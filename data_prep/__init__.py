"""From raw data to bundles: fetch, split, classifiers, policies, bundle."""
