"""The set-up of a clone: system packages, virtual environment, native build. Standard library only, Python ≥ 3.11.

`main` says what each target needs; `packages` knows the needs and what is missing; `system` installs them;
`unprivileged` finds replacements without root; `environment` makes .venv; `native` builds the probes;
`stamps` remembers what is done; `runner` runs commands and keeps the log.
"""
