"""Estimators, stopping, comparison, designs, outliers, change points: pure functions of arrays, no I/O, no clock."""
