"""Estimators, stopping rules, outliers: pure functions of arrays, no I/O and no clock."""
