"""From a configuration to a record: composing, planning, running."""
