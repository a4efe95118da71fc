"""The peers of `bench.search`: each asks for runs on stdout, and is told their seconds on stdin.

Runs in an environment of its own, which has optuna and scikit-learn. A study is one line {"method", "seed", "knobs",
"sizes"}; then {"config", "size"} is asked for, and answered by seconds, until null ends it.

- `tpe`: Optuna's TPE with its defaults, runs in full.
- `hyperband`: the same with its Hyperband pruner over all sizes, which Optuna's documentation holds to be near BOHB
  (Falkner, Klein and Hutter, ICML 2018).
- `gp`: a Gaussian process (Matérn 5/2, one scale a coordinate, noise fitted) with expected improvement (Jones, Schonlau
  and Welch 1998) after ten runs at random, all in full: what Optuna's GPSampler does, which needs torch.
"""

import json
import sys
import warnings
from itertools import product
from typing import Any

import numpy as np
import optuna

STARTS, REFIT = 10, 4
"""Runs at random before the model is asked, and runs between two fits of its scales."""

Knobs = dict[str, list[Any]]


class OverError(Exception):
    """The budget is spent."""


def measured(config: dict[str, Any], size: float) -> float:
    """Seconds of a run."""
    print(json.dumps({"config": config, "size": size}), flush=True)
    seconds: float | None = json.loads(sys.stdin.readline())
    if seconds is None:
        raise OverError
    return seconds


def tpe(seed: int, knobs: Knobs, sizes: list[float], pruner: optuna.pruners.BasePruner | None = None) -> None:
    """A study; with a pruner every trial begins small, and goes on while it is not pruned."""
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed), pruner=pruner)
    while True:
        trial = study.ask()
        config = {name: trial.suggest_categorical(name, values) for name, values in knobs.items()}
        for size in sizes if pruner else sizes[-1:]:
            seconds = measured(config, size)
            trial.report(seconds * (sizes[-1] / size) ** 3, round(size / sizes[0]))
            if pruner and size < sizes[-1] and trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            study.tell(trial, seconds)


def hyperband(seed: int, knobs: Knobs, sizes: list[float]) -> None:
    """Resources are sizes, against the smallest."""
    most = round(sizes[-1] / sizes[0])
    tpe(seed, knobs, sizes, optuna.pruners.HyperbandPruner(min_resource=1, max_resource=most, reduction_factor=2))


def gp(seed: int, knobs: Knobs, sizes: list[float]) -> None:
    """Expected improvement over all configurations that were not run."""
    from scipy.stats import norm
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    every = list(product(*knobs.values()))
    x = np.column_stack([column for k, values in enumerate(knobs.values()) for column in columns(every, k, values)])
    random = np.random.default_rng(seed)
    tried: list[int] = []
    y: list[float] = []
    kernel = ConstantKernel(0.1) * Matern(np.ones(x.shape[1]), (0.1, 20), nu=2.5) + WhiteKernel(1e-3, (1e-6, 1))
    for turn, start in enumerate(random.permutation(len(every))):
        chosen = int(start)
        if turn >= STARTS:
            fit = turn % REFIT == STARTS % REFIT
            model = GaussianProcessRegressor(kernel, optimizer="fmin_l_bfgs_b" if fit else None, normalize_y=True)
            model.fit(x[tried], y)
            kernel = model.kernel_
            mean, sd = model.predict(x, return_std=True)
            z = (min(y) - mean) / np.maximum(sd, 1e-9)
            gain = sd * (z * norm.cdf(z) + norm.pdf(z))
            gain[tried] = -1
            chosen = int(np.argmax(gain))
        y.append(np.log(measured(dict(zip(knobs, every[chosen], strict=True)), sizes[-1])))
        tried.append(chosen)


def columns(every: list[tuple[Any, ...]], k: int, values: list[Any]) -> list[list[float]]:
    """A knob as coordinates: numbers by their logarithms' order, words one apart from each other."""
    if all(isinstance(value, int) for value in values) and len(values) > 2:
        places = {value: n / (len(values) - 1) for n, value in enumerate(sorted(values))}
        return [[places[one[k]] for one in every]]
    return [[float(one[k] == value) for one in every] for value in values]


METHODS = {"tpe": tpe, "hyperband": hyperband, "gp": gp}


def main() -> None:
    """One study a line."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    while line := sys.stdin.readline():  # not by iteration, which reads ahead
        asked = json.loads(line)
        try:
            METHODS[asked["method"]](asked["seed"], asked["knobs"], asked["sizes"])
        except OverError:
            continue


if __name__ == "__main__":
    main()
