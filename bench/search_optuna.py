"""Optuna's TPE as a peer of `bench.search`: asks for runs on stdout, is told their seconds on stdin.

Runs in an environment of its own, which has optuna; per study one line {"seed", "knobs"}, then seconds, then null.
"""

import json
import sys

import optuna


def main() -> None:
    """One study a line."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    while line := sys.stdin.readline():  # not by iteration, which reads ahead
        asked = json.loads(line)
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=asked["seed"]))
        while True:
            trial = study.ask()
            config = {name: trial.suggest_categorical(name, values) for name, values in asked["knobs"].items()}
            print(json.dumps(config), flush=True)
            seconds = json.loads(sys.stdin.readline())
            if seconds is None:
                break
            study.tell(trial, seconds)


if __name__ == "__main__":
    main()
