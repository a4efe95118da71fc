"""Networks in words and tables: their figures, intervals and sources."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from wulf.core.units import show, show_interval
from wulf.model.network.figures import Network, class_object, nominal
from wulf.model.network.file import Costs, Figure, NetworkFile
from wulf.model.network.patterns import IN_ORDER, PROGRESS
from wulf.report.kit.view import Columns, Section, View

TITLES = {
    "latency": ("L, latency", "s"),
    "half_round_trip": ("half a round trip, smallest message", "s"),
    "send": ("o of the sender", "s"),
    "receive": ("o of the receiver", "s"),
    "gap": ("g, gap between messages", "s"),
    "message_rate": ("messages a second", "1"),
    "byte": ("G, time of a byte", "s"),
    "bandwidth": ("bandwidth", "byte/s"),
    "send_byte": ("O, sender's time of a byte", "s"),
    "receive_byte": ("O, receiver's time of a byte", "s"),
    "packet_byte": ("a byte of a packet that is stored and forwarded", "s"),
    "packet": ("the longest such packet", "B"),
    "eager": ("S, eager limit", "B"),
    "eager_byte": ("G of messages up to S", "s"),
}
"""What each figure of a file is, and its unit."""

SHARED = "Large messages of a rank leave side by side and share its adapter (on a topology)."

UNLIMITED = 2.0**60
"""Bytes from which on an eager limit is none."""


def networks_view(networks: Sequence[Network]) -> View:
    """All beside each other."""
    rows = []
    for one in sorted(networks, key=lambda one: (one.base.year, one.name)):
        values, _ = nominal(one)
        bandwidth = "any" if values["byte"] == 0 else show(1 / values["byte"], "byte/s")
        price = one.base.price
        rows.append([
            one.name, str(one.base.year or "–"), show(values["latency"], "s"),
            show(values["send"] + values["receive"], "s"), bandwidth,
            f"{len(one.estimated)} of {len(one.base.inter.figures)}",
            "–" if price is None else f"{price.currency}{price.port.value:,.6g} ({price.year})",
        ])  # fmt: skip
    heads = ["network", "since", "L", "o, both ends", "1/G", "estimates", "a port"]
    lines = [
        "Many figures are estimates, as hosts and software differ by more than networks do: `wulf model loggp` "
        "measures them. `wulf networks show NAME` has each figure's source."
    ]
    return View("wulf networks", f"{len(rows)} networks", [Section("Networks", lines, Columns(heads, rows))])


def network_view(network: Network) -> View:
    """One, with every source."""
    file = network.base
    said = [SHARED] if file.shared_nic else []
    said += [] if file.progress is None else [PROGRESS[file.progress]]
    said += [] if file.in_order is None else [IN_ORDER[file.in_order]]
    sections = [_class("Between hosts", file.inter, said)]
    if file.intra is not None:
        sections.append(_class("Within a host", file.intra))
    if file.price is not None:
        port = file.price.port
        line = f"{file.price.currency}{port.value:,.6g} a port in {file.price.year}: {port.source}."
        sections.append(Section("Price", [line]))
    return View("wulf networks", f"{network.name}: {file.title}", sections, network.notes)


def _class(heading: str, costs: Costs, lines: Sequence[str] = ()) -> Section:
    rows = []
    for name, figure in costs.figures.items():
        title, unit = TITLES[name]
        kind = "estimate" if figure.estimate else ""
        rows.append([title, _shown(figure.value, unit), show_interval(figure.low, figure.high, unit), kind])
    sources = [
        f"{TITLES[name][0]}: {figure.source}{f' ({figure.reason})' if figure.reason else ''}."
        for name, figure in costs.figures.items()
    ]
    return Section(heading, lines, Columns(["", "value", "95 % interval", ""], rows), small=sources)


def _shown(value: float, unit: str) -> str:
    return "none" if unit == "B" and value >= UNLIMITED else show(value, unit, 4)


def network_details(network: Network) -> dict[str, Any]:
    """For programs: the file in SI units, and what the replay gets of it."""
    inter, intra = nominal(network)
    return {
        "name": network.name,
        **network.base.model_dump(exclude={"name"}, exclude_none=True),
        "replay": {"inter": class_object(inter), "intra": None if intra is None else class_object(intra)},
        "estimates": network.estimated,
        "notes": list(network.notes),
    }


def written(file: NetworkFile) -> str:
    """A network as TOML, as those that wulf brings along are written."""
    lines = [
        f"{key} = {json.dumps(getattr(file, key), ensure_ascii=False)}" for key in ("name", "title", "stack", "year")
    ]
    if file.shared_nic:
        lines.append("shared_nic = true")
    told = ((key, getattr(file, key)) for key in ("progress", "in_order"))
    lines += [f"{key} = {json.dumps(said)}" for key, said in told if said is not None]
    for heading, costs in (("inter", file.inter), ("intra", file.intra)):
        for name, figure in costs.figures.items() if costs is not None else ():
            lines += ["", f"[{heading}.{name}]", *_figure_lines(figure)]
    if file.price is not None:
        lines += ["", "[price]", f"currency = {json.dumps(file.price.currency)}", f"year = {file.price.year}"]
        lines += ["", "[price.port]", *_figure_lines(file.price.port)]
    return "\n".join(lines)


def _figure_lines(figure: Figure) -> list[str]:
    """The fields of a figure; JSON's numbers, strings and booleans are TOML's, too."""
    content = figure.model_dump(exclude_defaults=True)
    return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in content.items()]
