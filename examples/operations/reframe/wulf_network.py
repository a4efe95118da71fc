"""ReFrame: latency and throughput of two nodes, measured by wulf and held against what your cluster had.

    reframe -c wulf_network.py -r --performance-report

Within the job that ReFrame asks Slurm for, on its first two nodes; without Slurm, and from a login node:

    reframe -c wulf_network.py -r -S nodes='n1 n2' -S wulf_options='--launcher ssh' -S num_tasks=1
"""

import json

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import performance_function, run_before, sanity_function, variable

REFERENCES = {
    # Of each of your partitions: value, how far below it and above it may be as a share of it, unit. Others are measured
    # and shown, and not judged.
    "mycluster:compute": {"rtt": (26e-6, None, 0.10, "s"), "throughput": (117e6, -0.05, None, "B/s")},
}


class WulfPair(rfm.RunOnlyRegressionTest):
    """Runs one pattern of `wulf net` between two nodes, and reads its records."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    num_tasks = 2
    num_tasks_per_node = 1
    exclusive_access = True
    time_limit = "10m"

    wulf = variable(str, value="wulf")
    nodes = variable(str, value='$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 2)')
    wulf_options = variable(str, value="--launcher slurm")
    pattern = ""
    metric = ""
    reference = {
        system: {name: figure} for system, figures in REFERENCES.items() for name, figure in figures.items()
    }

    @run_before("run")
    def start_once(self):
        """wulf starts its probes on both nodes by itself: it is one program, and not one a task."""
        self.job.launcher = getlauncher("local")()
        self.executable = self.wulf
        self.executable_opts = ["net", self.pattern, self.nodes, self.wulf_options, "--json"]

    def records(self):
        """Of the run: one JSON object a line."""
        with open(sn.evaluate(self.stdout)) as lines:
            return [json.loads(line) for line in lines if line.startswith("{")]

    def value(self):
        """Its figure; a KeyError or ValueError, and so a failed test, where there is none."""
        (record,) = [record for record in self.records() if record["metric"] == self.metric]
        return record["value"]

    @sanity_function
    def is_measured(self):
        return sn.assert_true(...)
