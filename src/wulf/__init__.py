"""wulf measures, explains, tunes and predicts the performance of commodity Linux clusters."""

__version__ = "0.1.0"
