"""An overlay of Warewulf 4: the files that a node reads when it starts, as templates; a tag leaves a node out."""

from __future__ import annotations

from collections.abc import Sequence

from wulf.tune.export.entry import Entry
from wulf.tune.export.format import Format, Written
from wulf.tune.export.formats import sysctl

ROOT = "wulf/rootfs/"

UNLESS_OFF = '{{- if eq (index .Tags "wulf") "off" }}{{ abort }}{{ end -}}'

BOOTLINE = "a node of Warewulf has its kernel's command line from the server: wwctl profile set --kernelargs"


def write(entries: Sequence[Entry]) -> Written:
    """The overlay's tree."""
    ours = [entry for entry in entries if entry.setting.mechanism != "bootline"]
    plain = sysctl.write(ours)
    written = Written(refused=plain.refused)
    written.refused += [(entry, BOOTLINE) for entry in entries if entry.setting.mechanism == "bootline"]
    for path, lines in plain.lines.items():
        literal = [line.replace("{{", '{{ "{{" }}') for line in lines]
        written.add(f"{ROOT}{path}.ww", _doc(path), UNLESS_OFF, *literal)
    return written


def _doc(path: str) -> str:
    return f"{{{{- /* wwdoc: /{path}, of `wulf tune export`; the tag wulf=off leaves a node out */}}}}"


FORMAT = Format(
    name="warewulf",
    help="An overlay of Warewulf 4.",
    write=write,
    install="Copy `wulf/` to Warewulf's overlays (`/var/lib/warewulf/overlays`; before 4.6 without `rootfs/`), add "
    "`wulf` to `--system-overlays` of the profile by `wwctl profile set`, `wwctl overlay build`, and "
    "start the nodes anew. `wwctl node set n3 --tagadd wulf=off` leaves a node out.",
    undo="Take `wulf` out of the profile's overlays, `wwctl overlay build`, and start the nodes anew.",
)
