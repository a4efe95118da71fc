"""ReFrame: round-trip time and throughput of two nodes, measured by wulf and held against what your cluster had.

    reframe -c wulf_network.py -r --performance-report

on the first two nodes of the job that ReFrame asks Slurm for; from a login node, without Slurm:

    reframe -c wulf_network.py -r --performance-report -S nodes='n1 n2' -S wulf_options='--launcher ssh'
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import performance_function, run_before, sanity_function, variable

# Of your own partitions: value, how far below and above it a figure may be as a share of it, unit. On others, figures
# are shown and not judged.
ROUND_TRIP = {"mycluster:compute": {"rtt": (26e-6, None, 0.10, "s")}}
THROUGHPUT = {"mycluster:compute": {"throughput": (117e6, -0.05, None, "B/s")}}


class WulfPair(rfm.RunOnlyRegressionTest):
    """One pattern of `wulf net` between two nodes."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    num_tasks = 2
    num_tasks_per_node = 1
    exclusive_access = True
    time_limit = "10m"

    wulf = variable(str, value="wulf")
    nodes = variable(str, value='$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 2)')
    wulf_options = variable(str, value="--launcher slurm")

    @run_before("run")
    def start_once(self):
        """wulf reaches both nodes by itself: it is started once, and not once a task."""
        self.job.launcher = getlauncher("local")()
        self.executable = self.wulf
        self.executable_opts = ["net", self.pattern, self.nodes, "--json", self.wulf_options]

    def figure(self, metric):
        """The record of a metric, of those that wulf printed, one JSON object a line; None where there is none."""
        lines = Path(str(sn.evaluate(self.stdout))).read_text().splitlines()
        return next((record for record in map(json.loads, lines) if record["metric"] == metric), None)

    @sanity_function
    def is_measured(self):
        """wulf's exit status is 1 where something stands out; what counts here is whether there is a figure."""
        record = self.figure(self.metric)
        told = "see " + str(sn.evaluate(self.stderr)) if record is None else record.get("reason")
        return sn.assert_true(record and record["value"] is not None, f"no {self.metric}: {told}")


@rfm.simple_test
class WulfRoundTrip(WulfPair):
    """Half of it is what a message takes."""

    descr = "TCP round-trip time of two nodes"
    pattern, metric = "pingpong", "rtt"
    reference = ROUND_TRIP

    @performance_function("s")
    def rtt(self):
        """The median of the replicates; its interval stands in the record beside it."""
        return self.figure("rtt")["value"]


@rfm.simple_test
class WulfThroughput(WulfPair):
    """One way, one stream."""

    descr = "TCP throughput of two nodes"
    pattern, metric = "stream", "throughput"
    reference = THROUGHPUT

    @performance_function("B/s")
    def throughput(self):
        """The median of the replicates; its interval stands in the record beside it."""
        return self.figure("throughput")["value"]
