"""Options that the command line leaves out, by the user's and the site's configuration."""

from __future__ import annotations

from dataclasses import dataclass

import click
from click.core import ParameterSource

from wulf.cli.showing import echo
from wulf.core.configuration import ConfiguredValue, Scalar, configuration
from wulf.core.errors import UsageError

ASKED_EACH_TIME = frozenset({"apply", "yes", "out", "resume"})
"""Options that no file gives: nothing is changed or removed without being asked for, and no run is another's."""

SOURCES = frozenset({"lab", "inventory_file", "hostfile", "nodes"})
"""Parameters that say which nodes; the command line's keep out those of the configuration."""

REACHING = frozenset({"launcher", "network", "ssh_config"})
"""And how they are reached, which a lab decides itself."""

NAMED = frozenset({"nodes_given", "client", "server"})
"""Nodes as arguments: of an inventory, but in the place of --nodes."""

HERE = frozenset({"trace"})
"""Commands that work on this machine unless their command line, or a table of their own, names nodes."""

_WORDS = "wulf.configured"
"""Where the context keeps what the configuration added, as the command line would have it."""


@dataclass(frozen=True)
class Default:
    """An option, and what the configuration says of it."""

    option: click.Option
    setting: ConfiguredValue

    @property
    def value(self) -> bool | str | list[str]:
        """As the command line would have it, so that it is checked as there.

        Raises
        ------
        UsageError
            The option takes no such value.
        """
        value, several = self.setting.value, self.option.multiple or self.option.nargs != 1
        if isinstance(value, list) != several or isinstance(value, bool) != self.option.is_flag:
            wanted = "true or false" if self.option.is_flag else "a list" if several else "one value"
            raise self.refused(f"--{self.setting.place[-1]} takes {wanted}")
        if isinstance(value, list):
            return [self._text(one) for one in value]
        return value if isinstance(value, bool) else self._text(value)

    @property
    def words(self) -> list[str]:
        """The same as words of the command line."""
        flag = next(name for name in self.option.opts if name.startswith("--"))
        if isinstance(self.value, bool):
            return [flag] if self.value else []
        return [word for one in ([self.value] if isinstance(self.value, str) else self.value) for word in (flag, one)]

    def refused(self, why: str) -> UsageError:
        """An error of the file."""
        return UsageError(f"{self.setting.file}: {self.setting.key} = {self.setting.value!r}: {why}")

    def _text(self, value: Scalar) -> str:
        return str(self.setting.path(value) if isinstance(self.option.type, click.Path) else value)


Known = dict[str, Default]
"""By the option's parameter."""


def command_words(context: click.Context) -> tuple[str, ...]:
    """A command's name behind `wulf`: ("net", "stream")."""
    words: list[str] = []
    while context.parent is not None:
        words.insert(0, context.info_name or "")
        context = context.parent
    return tuple(words)


def options_of(command: click.Command, context: click.Context) -> dict[str, click.Option]:
    """Long name, without its dashes → option."""
    return {
        name.removeprefix("--"): param
        for param in command.get_params(context)
        if isinstance(param, click.Option)
        for name in param.opts
        if name.startswith("--")
    }


def settings_for(command: click.Command, context: click.Context) -> Known:
    """What counts for a command.

    Raises
    ------
    UsageError
        Its own table has a key that is none of its options, or a file gives what is asked each time.
    """
    words, options = command_words(context), options_of(command, context)
    found: Known = {}
    for key, setting in configuration().of(words).items():
        own, option = len(setting.place) > len(words), options.get(key)
        if option is None or option.name is None:
            if own and words:
                raise UsageError(
                    f"{setting.file}: {setting.key}: `wulf {' '.join(words)}` has no --{key}",
                    f"`wulf {' '.join(words)} --help` lists its options",
                )
        elif key in ASKED_EACH_TIME:
            raise UsageError(
                f"{setting.file}: {setting.key}: --{key} is asked for each time", "take it out of the file"
            )
        elif len(setting.place) > 1 or words[0] not in HERE or option.name not in SOURCES | REACHING:
            found[option.name] = Default(option, setting)
    return found


def prepare(command: click.Command, context: click.Context) -> Known:
    """Put the configuration's values in the place of the defaults of a command's options."""
    known = settings_for(command, context)
    context.default_map = {name: default.value for name, default in known.items()}
    return known


def blamed(error: click.BadParameter, context: click.Context, known: Known) -> Exception:
    """The error, with the file where that gave the value."""
    name = (error.param.name if error.param else None) or ""
    by_file = name in known and context.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
    return known[name].refused(error.message) if by_file else error


def settle(context: click.Context, known: Known) -> None:
    """Take back what the configuration says of nodes where the command line names some; keep what it added."""
    given = {name for name in context.params if _given(context, name)}
    dropped = SOURCES if given & (SOURCES - {"nodes"}) else {"lab", "nodes"} if given & {"nodes", *NAMED} else set()
    for name in dropped | (REACHING if "lab" in given else set()):
        if _by_file(context, name):
            context.params[name] = None
            context.set_parameter_source(name, ParameterSource.DEFAULT)
    counting = {name: default for name, default in known.items() if _by_file(context, name)}
    context.meta[_WORDS] = [word for default in counting.values() for word in default.words]
    for name in sorted(SOURCES & set(counting)):
        setting = counting[name].setting
        echo(f"nodes: {setting.value}, by {setting.key} in {setting.file}", err=True)


def added_words() -> list[str]:
    """What the configuration added to the running command's line."""
    context = click.get_current_context(silent=True)
    return list(context.meta.get(_WORDS, ())) if context else []


def _given(context: click.Context, name: str) -> bool:
    written = context.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    return written and context.params[name] not in (None, ())


def _by_file(context: click.Context, name: str) -> bool:
    return name in context.params and context.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
