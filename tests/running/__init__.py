"""Which tests run, and when: tiers, shards, and what a change can reach."""
