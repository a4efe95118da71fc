"""config.toml: where it is, what counts, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from wulf.core.configuration import SITE, paths, read
from wulf.core.errors import UsageError


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_user_s_file_stands_behind_the_site_s() -> None:
    home = Path("/home/u/.config/wulf/config.toml")
    assert paths({"HOME": "/home/u"}) == [SITE, home]
    assert paths({"HOME": "/home/u", "XDG_CONFIG_HOME": "/x"}) == [SITE, Path("/x/wulf/config.toml")]
    assert paths({"HOME": "/home/u", "XDG_CONFIG_HOME": "relative"}) == [SITE, home]


def test_a_variable_names_one_file_for_all_or_none() -> None:
    assert paths({"HOME": "/home/u", "WULF_CONFIG": "/etc/own.toml"}) == [Path("/etc/own.toml")]
    assert paths({"HOME": "/home/u", "WULF_CONFIG": ""}) == []


def test_what_is_written_nearer_to_the_command_counts_and_the_later_file(tmp_path: Path) -> None:
    site = written(
        tmp_path, "site.toml", 'width = "5%"\nruns = "/data"\n[net]\nseconds = 1\n[net.stream]\nseconds = 2\n'
    )
    user = written(tmp_path, "user.toml", 'width = "3%"\nssh_config = "own"\n[net]\nseconds = 4\n')
    found = read([site, user, tmp_path / "absent.toml"])
    values = {key: one.value for key, one in found.of(("net", "stream")).items()}
    assert values == {"width": "3%", "runs": "/data", "ssh-config": "own", "seconds": 2}
    assert found.of(("net", "pingpong"))["seconds"].value == 4
    assert "seconds" not in found.of(("survey",))
    assert (found.of(("survey",))["width"].file, found.of(("survey",))["width"].key) == (user, "width")
    assert found.runs == Path("/data")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("width = ", "it is no TOML"),
        ("day = 2026-11-27", "day = 2026-11-27 is no text"),
        ("a = [[1]]", r"a = \[\[1\]\] is no text"),
        ("a = nan", "nan is no figure"),
        ("[a.b.c.d.e]\nf = 1", r"a\.b\.c\.d is nested deeper than commands are"),
    ],
)
def test_what_is_no_configuration_is_refused_with_its_file(tmp_path: Path, text: str, why: str) -> None:
    path = written(tmp_path, "config.toml", text)
    with pytest.raises(UsageError, match=why) as error:
        read([path])
    assert str(path) in error.value.what


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    assert read([tmp_path / "absent.toml"]).settings == ()
    with pytest.raises(UsageError, match="No such file"):
        read([tmp_path / "absent.toml"], needed=True)


@pytest.mark.parametrize(("text", "path"), [("kept", "{}/kept"), ("~/kept", "/home/u/kept"), ("/kept", "/kept")])
def test_a_path_is_relative_to_the_file(tmp_path: Path, monkeypatch, text: str, path: str) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    file = written(tmp_path, "config.toml", f'runs = "{text}"')
    assert read([file]).runs == Path(path.format(tmp_path))


@pytest.mark.parametrize("text", ['""', "1", '["a"]', "true"])
def test_runs_that_are_no_path_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="is no path"):
        _ = read([written(tmp_path, "config.toml", f"runs = {text}")]).runs
