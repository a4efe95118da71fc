"""What is reported of a network: pairs, sizes, layers, whole clusters."""

from __future__ import annotations

from wulf.report.net.curve import ThroughputCurve
from wulf.report.net.layers import Layers
from wulf.report.net.links import Links
from wulf.report.net.pairs import Pairs
from wulf.report.net.sweep import SizeSweep
from wulf.report.net.whole import Whole
from wulf.report.net.zero_loss import ZeroLoss

PARTS = (Whole(), Pairs(), SizeSweep(), ThroughputCurve(), ZeroLoss(), Layers(), Links())
