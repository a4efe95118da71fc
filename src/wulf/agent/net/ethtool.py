"""Settings of a card over ethtool's netlink family: what each topic holds, reading it, and writing one field of it.

`pyroute2.netlink.generic.ethtool` knows rings but neither features, coalescing, channels, pause nor EEE; their
attributes are laid down here in the kernel's order (linux/ethtool_netlink.h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyroute2.netlink import NLM_F_ACK, NLM_F_REQUEST, genlmsg
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.generic import GenericNetlinkSocket
from pyroute2.netlink.generic.ethtool import ethtoolbitset, ethtoolheader

from wulf.agent.unknown import Unknown, refused

_OMIT_REPLY = 0x2  # ETHTOOL_FLAG_OMIT_REPLY: the reply would say what reading again says, too


class _Message(genlmsg):  # type: ignore[misc]
    ethtoolheader = ethtoolheader
    ethtoolbitset = ethtoolbitset


def _attributes(*fields: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Attributes of an ethtool message in the kernel's order; the first two are the same in all."""
    return (("unspec", "none"), ("header", "ethtoolheader"), *fields)


def _numbers(names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, "uint32") for name in names.split())


def _switches(names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, "uint8") for name in names.split())


class _Features(_Message):
    nla_map = _attributes(
        ("hw", "ethtoolbitset"), ("wanted", "ethtoolbitset"), ("active", "ethtoolbitset"), ("nochange", "ethtoolbitset")
    )


class _Rings(_Message):
    nla_map = _attributes(
        *_numbers("rx_max rx_mini_max rx_jumbo_max tx_max rx rx_mini rx_jumbo tx rx_buf_len"),
        *_switches("tcp_data_split"),
        *_numbers("cqe_size"),
        *_switches("tx_push rx_push"),
        *_numbers("tx_push_buf_len tx_push_buf_len_max"),
    )


class _Channels(_Message):
    nla_map = _attributes(*_numbers("rx_max tx_max other_max combined_max rx tx other combined"))


class _Coalesce(_Message):
    nla_map = _attributes(
        *_numbers("rx_usecs rx_frames rx_usecs_irq rx_frames_irq tx_usecs tx_frames tx_usecs_irq tx_frames_irq"),
        *_numbers("stats_usecs"),
        *_switches("adaptive_rx adaptive_tx"),
        *_numbers("pkt_rate_low rx_usecs_low rx_frames_low tx_usecs_low tx_frames_low"),
        *_numbers("pkt_rate_high rx_usecs_high rx_frames_high tx_usecs_high tx_frames_high"),
        *_numbers("sample_interval"),
        *_switches("cqe_mode_tx cqe_mode_rx"),
        *_numbers("tx_aggr_bytes tx_aggr_frames tx_aggr_usecs"),
    )


class _Pause(_Message):
    nla_map = _attributes(*_switches("autoneg rx tx"))


class _Eee(_Message):
    nla_map = _attributes(
        ("ours", "ethtoolbitset"),
        ("peer", "ethtoolbitset"),
        *_switches("active enabled tx_lpi_enabled"),
        *_numbers("tx_lpi_timer"),
    )


@dataclass(frozen=True)
class _Topic:
    get: int
    set: int
    message: type[_Message]
    words: str
    """What it is, for a person."""


_TOPICS = {  # the numbers of ETHTOOL_MSG_…_GET and _SET
    "features": _Topic(11, 12, _Features, "offloads"),
    "rings": _Topic(15, 16, _Rings, "ring sizes"),
    "channels": _Topic(17, 18, _Channels, "channels"),
    "coalesce": _Topic(19, 20, _Coalesce, "interrupt coalescing"),
    "pause": _Topic(21, 22, _Pause, "flow control"),
    "eee": _Topic(23, 24, _Eee, "energy-efficient Ethernet"),
}


def read(topic: str, interface: str) -> dict[str, Any]:
    """Settings of an interface under a topic: numbers by name; for features, booleans by name."""
    asked = _topic(topic)
    answer = _request(asked, asked.get, interface, [])
    if topic == "features":
        active = _bits(answer, "active")
        return {name: name in active for name in sorted(_bits(answer, "hw") | active) if name}
    return {name: value for name, value in answer["attrs"] if isinstance(value, int)}


def write(topic: str, interface: str, field: str, value: int) -> None:
    """Change one field of a topic; the others stay as they are. What the driver made of it is seen by reading it."""
    asked = _topic(topic)
    if topic == "features":
        _request(asked, asked.set, interface, [("wanted", _bit(field, bool(value)))])
        return
    known = {name for name, kind in asked.message.nla_map if kind in ("uint8", "uint32")}
    if field not in known or field.endswith("_max"):
        raise Unknown(f"ethtool's {asked.words} have no '{field}' that can be set")
    _request(asked, asked.set, interface, [(field, int(value))])


def _topic(name: str) -> _Topic:
    if name not in _TOPICS:
        raise Unknown(f"ethtool has no topic '{name}' here; {', '.join(_TOPICS)} are known")
    return _TOPICS[name]


def _bit(name: str, on: bool) -> dict[str, Any]:
    """A bitset that names one bit, so that the kernel leaves all others alone."""
    bit = [["ETHTOOL_A_BITSET_BIT_NAME", name], *([["ETHTOOL_A_BITSET_BIT_VALUE", True]] if on else [])]
    return {"attrs": [["ETHTOOL_A_BITSET_BITS", {"attrs": [["ETHTOOL_A_BITSET_BITS_BIT", {"attrs": bit}]]}]]}


def _request(topic: _Topic, command: int, interface: str, fields: list[tuple[str, Any]]) -> Any:
    """The kernel's answer: the settings to a GET, its acknowledgement to a SET."""
    writes = command == topic.set
    header: list[list[Any]] = [["ETHTOOL_A_HEADER_DEV_NAME", interface]]
    header += [["ETHTOOL_A_HEADER_FLAGS", _OMIT_REPLY]] if writes else []
    message = topic.message()
    message["cmd"], message["version"] = command, 1
    message["attrs"] += [("header", {"attrs": header}), *fields]
    endpoint = GenericNetlinkSocket(ext_ack=True)
    try:
        endpoint.bind("ethtool", topic.message)
        flags = NLM_F_REQUEST | (NLM_F_ACK if writes else 0)
        return next(iter(endpoint.nlm_request(message, msg_type=endpoint.prid, msg_flags=flags)))
    except NetlinkError as error:
        raise refused(
            OSError(error.code, ""), topic.words, said=str(error.args[1]), verb="set" if writes else "read"
        ) from error
    finally:
        endpoint.close()


def _bits(answer: Any, name: str) -> set[str]:
    """Names of the bits that a bitset lists: 'hw' lists all that the kernel knows, 'active' those that are on."""
    bitset = answer.get_attr(name)
    bits = bitset.get_attr("ETHTOOL_A_BITSET_BITS") if bitset is not None else None
    if bits is None:
        return set()
    return {str(bit.get_attr("ETHTOOL_A_BITSET_BIT_NAME")) for bit in bits.get_attrs("ETHTOOL_A_BITSET_BITS_BIT")}
