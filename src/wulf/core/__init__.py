"""Records, units, errors, names of places: what every other package stands on. Imports nothing of ours."""
