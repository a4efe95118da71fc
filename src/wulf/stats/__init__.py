"""Estimators, stopping rules, comparisons, designs, outliers, changes: pure functions of arrays, no I/O and no clock."""
