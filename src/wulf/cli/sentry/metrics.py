"""`wulf sentry metrics`: what the sentry knows, for Prometheus."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wulf.cli.commands import Command
from wulf.cli.sentry.where import state_option, state_path
from wulf.cli.showing import echo
from wulf.core.errors import UsageError

if TYPE_CHECKING:
    from wulf.workflow.sentry.metrics import Metrics


@click.command(
    cls=Command,
    epilog="\b\nExample:\n  wulf sentry metrics --serve 127.0.0.1:9465 --stay\n"
    "  wulf sentry metrics --textfile /var/lib/prometheus/node-exporter/wulf.prom",
)
@state_option
@click.option(
    "--serve", "listen", metavar="ADDRESS:PORT",
    help="Answer GET /metrics there. There is no key: name any address but loopback in full.",
)  # fmt: skip
@click.option("--stay", is_flag=True, help="With --serve: do not end when stdin closes.")
@click.option(
    "--textfile", type=click.Path(path_type=Path),
    help="Write a file, whole or not at all, for node_exporter's textfile collector.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["openmetrics", "text"]),
    help="OpenMetrics 1.0, or Prometheus's text 0.0.4 [what a scrape asks for; text in a file, else openmetrics].",
)  # fmt: skip
@click.option(
    "--series", type=click.IntRange(min=100), default=50_000, show_default=True,
    help="At most so many: incidents first, then nodes and links, then figures of the oddest nodes.",
)  # fmt: skip
def metrics(
    where: Path | None, listen: str | None, stay: bool, textfile: Path | None, form: str | None, series: int
) -> None:
    """What the sentry knows, for Prometheus.

    Printed, served, or written into a file: nodes, open incidents, newest figures beside the medians of their hardware
    class, and pairs of the newest `wulf links`. Only read: the sentry itself need not run. Grafana dashboard, alert
    rules and the scrape's configuration: examples/operations, docs/how-to/prometheus.md.
    """
    from wulf.scrape.openmetrics import Form
    from wulf.workflow.sentry.metrics import Metrics

    if listen and textfile:
        raise UsageError("--serve and --textfile are two ways to the same Prometheus", "leave one out")
    if stay and not listen:
        raise UsageError("--stay is about serving", "give --serve ADDRESS:PORT, or leave it out")
    content = Metrics(state_path(where), series, Form(form) if form else None)
    if listen:
        _serve(content, listen, stay)
    elif textfile:
        _write(content, textfile)
    else:
        echo(content.text(content.form or Form.OPENMETRICS, time.time()), nl=False)


def _serve(content: Metrics, listen: str, stay: bool) -> None:
    from wulf.scrape import serving

    address, port = serving.parse_listen(listen, "--serve")
    server = serving.Server(address, port, content, "wulf sentry metrics")
    if not serving.is_loopback(address):
        echo(f"note: whoever reaches {address} may read what the sentry knows: there is no key", err=True)
    echo(server.url, err=True)
    serving.serve(server, stay=stay or serving.under_systemd())


def _write(content: Metrics, path: Path) -> None:
    """The file; where the state can't be read, it says so before the command does: an old one would look alive."""
    from wulf.core.files import replace_file
    from wulf.scrape.openmetrics import Form

    form = content.form or Form.TEXT
    try:
        replace_file(path, content(form))
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}", "name another file") from error
    content.text(form, time.time())
