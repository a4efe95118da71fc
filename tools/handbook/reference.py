"""The reference that is made from the code: commands from their help, probes as they describe themselves, records."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from handbook.pages import INDEX, Page
from wulf.cli.commands import grouped
from wulf.cli.help.manual import EXIT_STATUS, Entry, everything
from wulf.core.names import capitalised
from wulf.core.names import markdown_cell as cell
from wulf.core.programs import program_path
from wulf.core.records import Provenance, Record, Verdict, record_schema
from wulf.measure.mpi.probes import described as described_mpi

COMMANDS = "reference/commands"

LISTED = f"""\
- [Commands](commands/{INDEX}): every command with its options, as `--help-all` and the manual pages have them.
- [Probes](probes.md): what each probe measures, with which parameters, and what it calls its figures.
- [Records](records.md): the fields of a record, which is what every measurement comes down to."""
"""What the reference's index says of the pages made here."""


def described() -> list[dict[str, Any]]:
    """What the probes say of themselves: wulf-net's and wulf-node's own words, and those kept of wulf-mpi.

    Raises
    ------
    UsageError
        They have not been built.
    """
    built = (program_path(name) for name in ("wulf-net", "wulf-node"))
    told = [subprocess.run([path, "--describe"], capture_output=True, check=True, timeout=10).stdout for path in built]
    return [*map(json.loads, told), described_mpi()]


def made(described: Iterable[Mapping[str, Any]]) -> list[Page]:
    """All pages that are made from the code."""
    return [*commands(everything()), Page("reference/probes.md", probes(described)),
            Page("reference/records.md", records())]  # fmt: skip


def commands(wulf: Entry) -> Iterator[Page]:
    """A page for each command of `wulf`, with those of a group, and the list of all."""
    lines = ["# Commands", "", "What `wulf COMMAND --help-all` says, and `man wulf-COMMAND`. In all of them:", ""]
    lines += [f"- exit code {code}: {words}" for code, words in EXIT_STATUS]
    for group, some in grouped().items():
        lines += ["", f"## {group}", "", *(f"- [wulf {one.name}]({one.name}.md): {one.help}" for one in some)]
    yield Page(f"{COMMANDS}/{INDEX}", "\n".join(lines) + "\n")
    for entry in wulf.commands:
        yield Page(f"{COMMANDS}/{entry.name.split()[1]}.md", "\n".join(_command(entry, 1, {})) + "\n")


def _command(entry: Entry, level: int, told: dict[str, list[tuple[str, str]]]) -> Iterator[str]:
    """A command and those below it; `told` are the options of each title that the page has said last."""
    yield from (f"{'#' * min(level, 3)} {entry.name}", "", "```text", f"{entry.name} {entry.usage}", "```", "")
    for part in entry.text:
        if part.startswith("\b"):
            yield from ("```text", *part.split("\n")[1:], "```", "")
        else:
            yield from (_plain(part), "")
    title, examples = entry.examples
    if examples:
        yield from (f"**{title}**", "", "```sh", *examples, "```", "")
    options = {name: [row for row in rows if not row[0].endswith("--help")] for name, rows in entry.options.items()}
    as_above = [f"**{name}**" for name, rows in options.items() if rows and told.get(name) == rows]
    for name, rows in options.items():
        if rows and told.get(name) != rows:
            yield from (f"**{name}**", "")
            yield from (line for term, text in rows for line in (f"`{term}`", f":   {_plain(text) or '–'}", ""))
    told |= options
    if as_above:
        yield from (f"{', '.join(as_above)}: as above.", "")
    if entry.commands:
        yield from ("**Commands**", "")
        yield from (f"- [{one.name}](#{one.name.replace(' ', '-')}): {_plain(one.short)}" for one in entry.commands)
        yield ""
    for one in entry.commands:
        yield from _command(one, level + 1, told)


def _plain(text: str) -> str:
    """Text for people as Markdown that shows it as it is, but for what stands in backquotes."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]#])", r"\\\1", part) for part in parts)


def probes(described: Iterable[Mapping[str, Any]]) -> str:
    """The page of probes, from what they say of themselves."""
    lines = [
        "# Probes", "",
        "What the programs on the nodes say of themselves (`--describe`). Options of commands, validation, and names "
        "of metrics and parameters in records are made of the same words. Units are SI base units; a default of – is "
        "chosen by the program, as the text says.", "",
    ]  # fmt: skip
    for program in described:
        lines += _program(program)
    return "\n".join(lines).rstrip() + "\n"


def _program(program: Mapping[str, Any]) -> Iterator[str]:
    patterns = program.get("patterns") or program["probes"]
    name = program["program"]
    yield from (f"## {name}", "")
    if transports := program.get("transports"):
        yield from ("| transport | what | largest message [B] |", "| --- | --- | --- |")
        yield from (f"| `{one['name']}` | {cell(one['help'])} | {one['max_bytes']} |" for one in transports)
        yield ""
    often = Counter(json.dumps(param, sort_keys=True) for pattern in patterns for param in pattern["params"])
    common = [param for text, count in often.items() if count > 2 for param in [json.loads(text)]]
    if common:
        yield from (f"**Parameters that several of {name} have**", "", *_params(common), "")
    for pattern in patterns:
        yield from (f"### {name} {pattern['name']}", "", _plain(_sentence(pattern["help"])), "")
        if pattern.get("transports"):
            yield from (f"Over {', '.join(f'`{one}`' for one in pattern['transports'])}.", "")
        yield from _metrics(pattern["metrics"])
        own = [param for param in pattern["params"] if param not in common]
        if own:
            yield from (*_params(own), "")
        also = [f"`{param['name']}`" for param in pattern["params"] if param in common]
        if also:
            yield from (f"And {', '.join(also)}, as above.", "")


def _sentence(text: str) -> str:
    return f"{capitalised(text.rstrip('.'))}."


def _metrics(metrics: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield from ("| measures | unit | better | what |", "| --- | --- | --- | --- |")
    for one in metrics:
        yield f"| `{one['name']}` | {one['unit']} | {one.get('better', 'lower')} | {cell(one.get('help', ''))} |"
    yield ""


def _params(params: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield from ("| parameter | values | default | what |", "| --- | --- | --- | --- |")
    for one in params:
        default = "–" if one.get("default") is None else f"`{json.dumps(one['default'])}`"
        yield f"| `{one['name']}` | {_values(one)} | {default} | {cell(one.get('help', ''))} |"


def _values(param: Mapping[str, Any]) -> str:
    if param.get("choices"):
        return ", ".join(f"`{one}`" for one in param["choices"])
    unit = f" [{param['unit']}]" if param.get("unit") else ""
    ends = f" {_number(param['min'])} to {_number(param['max'])}" if {"min", "max"} <= set(param) else ""
    return f"{param['type']}{ends}{unit}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:g}"


def records() -> str:
    """The page of records, from the model that reads and writes them."""
    schema = record_schema()
    lines = [
        "# Records", "", f"{Record.__doc__} One is a line of a run's `records.jsonl`, and of what `--json` prints. "
        "`wulf schema` prints its schema, [record.schema.json](record.schema.json). Fields are added, never renamed. "
        "Those of a certain measurement stand beside these.", "",
        "| field | type | what |", "| --- | --- | --- |",
    ]  # fmt: skip
    for name, field in schema["properties"].items():
        needed = ", required" if name in schema.get("required", ()) else ""
        lines.append(f"| `{name}` | {_type(field)}{needed} | {cell(field.get('description', ''))} |")
    for kind in (Verdict, Provenance):
        words = ", ".join(f"`{one}`" for one in kind)
        lines += ["", f"**{kind.__name__}**. {kind.__doc__} One of {words}."]
    lines += ["", "Of other files there are schemas, too: [rates](rates.schema.json), [networks](network.schema.json)."]
    return "\n".join(lines) + "\n"


def _type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(one) for one in field["anyOf"]))
    return str(field.get("type", "any"))
