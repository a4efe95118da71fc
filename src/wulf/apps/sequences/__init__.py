"""Sequences as input of applications: those that evolved along a tree, and a database of them split over ranks."""
