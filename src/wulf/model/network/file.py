"""What a network's TOML holds: the figures of LogGOPS with their intervals, and where each is from. SI: s, s/B, B.

Sources print what they measured: half a round trip rather than a latency, a bandwidth rather than the time of a byte. A
file holds it as printed, and `wulf.model.network.figures` derives what the model needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wulf.core.errors import UsageError
from wulf.core.given import Unreadable, first_fault, toml

EITHER = (("latency", "half_round_trip"), ("gap", "message_rate"), ("byte", "bandwidth"))
"""Of each pair a file has one: what the model takes, or what sources print."""

DIVISORS = ("message_rate", "bandwidth")
"""Figures that are divided by, and so can't be 0."""

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Figure(_Strict):
    """A figure, what else it could be (95 %), and where it is from; an estimate says why it is no more than that."""

    value: Amount
    low: Amount | None = None
    high: Amount | None = None
    source: str = Field(min_length=1)
    estimate: bool = False
    reason: str = ""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("low and high come together")
        if self.low is not None and self.high is not None and not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value:g} is not between low and high, {self.low:g} and {self.high:g}")
        if self.estimate and not self.reason:
            raise ValueError("an estimate needs a reason")
        return self


class Costs(_Strict):
    """What a message costs between two ranks [s, s/B, B].

    Attributes
    ----------
    half_round_trip
        Of the smallest message: L + o of the sender + o of the receiver.
    send_byte, receive_byte
        CPU time of a byte; absent: it is part of the time of a byte.
    packet_byte, packet
        By how much later the first byte comes for each byte of the first packet, which is stored before it is
        forwarded; and the longest packet.
    eager
        The largest message that is sent before its receiver asks for it.
    eager_byte
        Time of a byte of such messages, which a library may copy; absent: of all.
    """

    latency: Figure | None = None
    half_round_trip: Figure | None = None
    send: Figure
    receive: Figure
    gap: Figure | None = None
    message_rate: Figure | None = None
    byte: Figure | None = None
    bandwidth: Figure | None = None
    send_byte: Figure | None = None
    receive_byte: Figure | None = None
    packet_byte: Figure | None = None
    packet: Figure | None = None
    eager: Figure
    eager_byte: Figure | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for one, other in EITHER:
            if (getattr(self, one) is None) == (getattr(self, other) is None):
                raise ValueError(f"give {one} or {other}, one of both")
        if (self.packet_byte is None) != (self.packet is None):
            raise ValueError("packet_byte and packet come together")
        for name in DIVISORS:
            figure = getattr(self, name)
            if figure is not None and (figure.value if figure.low is None else figure.low) <= 0:
                raise ValueError(f"{name} must be above 0")
        return self

    @property
    def figures(self) -> dict[str, Figure]:
        """Those that are there, by name."""
        found = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {name: figure for name, figure in found if figure is not None}


class Price(_Strict):
    """What it costs to connect one host: adapter, cable and switch port, as far as the source says."""

    currency: str = "$"
    year: int
    port: Figure


class NetworkFile(_Strict):
    """A network as its TOML has it.

    Attributes
    ----------
    inter, intra
        Between hosts, and within one; without `intra` a candidate takes the baseline's: who buys a network keeps the
        hosts' memory.
    shared_nic
        Whether several large messages of a rank leave side by side and share its adapter, as TCP's connections do; else
        one after another, as a queue pair of RDMA has them.
    progress
        Whether messages that wait for their receivers get on while both ends compute, as where an adapter or a thread
        sees to them; else in calls of MPI alone. Absent: as on the network that the trace was made on, since it is the
        library's doing more than the network's.
    in_order
        Whether all that one rank sends another leaves in order, a large message's request and the answer to one behind
        the data before them, as over one TCP connection; else these pass data, as RDMA has it. Absent: as on the
        network that the trace was made on.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str
    stack: str = ""
    year: int = 0
    shared_nic: bool = False
    progress: bool | None = None
    in_order: bool | None = None
    inter: Costs
    intra: Costs | None = None
    price: Price | None = None


def parse_network(text: str, where: str) -> NetworkFile:
    """A network of its TOML.

    Parameters
    ----------
    where
        The file, for messages.

    Raises
    ------
    UsageError
        It is no TOML, or a figure is missing or wrong: the first fault, with its field.
    """
    try:
        return NetworkFile.model_validate(toml(text))
    except Unreadable as error:
        raise UsageError(f"{where} can't be read: {error}", "`wulf networks show 10gbe --toml` shows one") from error
    except ValidationError as error:
        raise UsageError(
            f"{where}: {first_fault(error, 'the network')}", "docs/reference/network.schema.json says what it holds"
        ) from error


def network_text(name: str) -> str:
    """The TOML of a network that wulf brings along.

    Raises
    ------
    KeyError
        There is none of that name.
    """
    path = files("wulf.model.network") / "known" / f"{name}.toml"
    if name not in network_names():
        raise KeyError(name)
    return path.read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def network_names() -> tuple[str, ...]:
    """All networks that wulf brings along."""
    names = (entry.name for entry in (files("wulf.model.network") / "known").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@lru_cache(maxsize=64)
def shipped_network(name: str) -> NetworkFile:
    """A network that wulf brings along.

    Raises
    ------
    KeyError
        There is none of that name.
    """
    return parse_network(network_text(name), f"networks/{name}.toml")


def network_schema() -> Mapping[str, Any]:
    """The JSON schema of a network's TOML, as docs/reference/network.schema.json has it."""
    return NetworkFile.model_json_schema()
