"""Settings of cards, over ethtool's netlink family: offloads, rings, channels, coalescing, flow control, EEE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wulf.agent.boot import linkfile
from wulf.agent.interfaces import interfaces
from wulf.agent.mechanism import Mechanism
from wulf.agent.unknown import Unknown
from wulf.agent.values import from_text, scaled, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wulf.agent.machine import Machine

_SWITCHES = {
    "coalesce": {"adaptive_rx", "adaptive_tx", "cqe_mode_rx", "cqe_mode_tx"},
    "pause": {"autoneg", "rx", "tx"},
    "eee": {"active", "enabled", "tx_lpi_enabled"},
    "rings": {"tx_push", "rx_push"},
}
"""Fields that are on or off; all features are, too."""

_AT_BOOT = {  # (topic, field): its word in a .link file (systemd.link(5)), and how that is written
    ("features", "rx-checksum"): ("ReceiveChecksumOffload", "bool"),
    ("features", "tx-checksum-ip-generic"): ("TransmitChecksumOffload", "bool"),
    ("features", "tx-tcp-segmentation"): ("TCPSegmentationOffload", "bool"),
    ("features", "tx-tcp6-segmentation"): ("TCP6SegmentationOffload", "bool"),
    ("features", "tx-generic-segmentation"): ("GenericSegmentationOffload", "bool"),
    ("features", "rx-gro"): ("GenericReceiveOffload", "bool"),
    ("features", "rx-gro-hw"): ("GenericReceiveOffloadHardware", "bool"),
    ("features", "rx-lro"): ("LargeReceiveOffload", "bool"),
    ("features", "rx-ntuple-filter"): ("NTupleFilter", "bool"),
    ("rings", "rx"): ("RxBufferSize", "most"),
    ("rings", "tx"): ("TxBufferSize", "most"),
    ("channels", "rx"): ("RxChannels", "most"),
    ("channels", "tx"): ("TxChannels", "most"),
    ("channels", "other"): ("OtherChannels", "most"),
    ("channels", "combined"): ("CombinedChannels", "most"),
    ("coalesce", "adaptive_rx"): ("UseAdaptiveRxCoalesce", "bool"),
    ("coalesce", "adaptive_tx"): ("UseAdaptiveTxCoalesce", "bool"),
    ("coalesce", "rx_usecs"): ("RxCoalesceSec", "span"),
    ("coalesce", "tx_usecs"): ("TxCoalesceSec", "span"),
    ("coalesce", "rx_frames"): ("RxMaxCoalescedFrames", "int"),
    ("coalesce", "tx_frames"): ("TxMaxCoalescedFrames", "int"),
    ("pause", "rx"): ("RxFlowControl", "bool"),
    ("pause", "tx"): ("TxFlowControl", "bool"),
    ("pause", "autoneg"): ("AutoNegotiationFlowControl", "bool"),
}


class Ethtool(Mechanism):
    help = (
        "setting of a card: topic = features, rings, channels, coalesce, pause or eee; field = 'rx-gro' (the kernel's "
        "name of a feature), 'rx_usecs' (with scale = 1e-6), 'combined', …"
    )
    words = ("topic", "field")
    optional = ("scale",)

    def places(self, machine: Machine, target: Mapping[str, Any]) -> list[str]:
        return interfaces(machine)

    def read(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        topic, field = target["topic"], target["field"]
        number = _field(machine, topic, field, place)
        if _is_switch(topic, field):
            return bool(number)
        return scaled(number, target.get("scale", 1))

    def write(self, machine: Machine, target: Mapping[str, Any], place: str, value: Any) -> None:
        topic, field = target["topic"], target["field"]
        _field(machine, topic, field, place)  # what can't be read is not written: nothing could undo it
        machine.tell("ethtool", topic, place, field, whole(value, target.get("scale", 1)))

    def startup(self, machine: Machine, target: Mapping[str, Any], place: str) -> Any:
        topic, field = target["topic"], target["field"]
        if (topic, field) not in _AT_BOOT:
            raise Unknown("the driver decides at boot")
        word, kind = _AT_BOOT[topic, field]
        text = linkfile.startup(machine, place, word)
        if kind == "most" and text == "max":
            return _field(machine, topic, f"{field}_max", place)
        return linkfile.span(text) if kind == "span" else from_text(text, {"kind": kind.replace("most", "int")})


def _field(machine: Machine, topic: str, field: str, nic: str) -> Any:
    settings = machine.ask("ethtool", topic, nic)
    if field not in settings:
        raise Unknown(f"the driver does not report '{field}' among its {topic} settings", absent=True)
    return settings[field]


def _is_switch(topic: str, field: str) -> bool:
    return topic == "features" or field in _SWITCHES.get(topic, ())


mechanism = Ethtool()
