"""pip's wheel is found as pip itself would find it."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from provision import bootstrap
from provision.runner import SetupError

PAGE = """<!DOCTYPE html><html><body>
<a href="../../packages/pip-9.0.3-py2.py3-none-any.whl#sha256=aa">pip-9.0.3-py2.py3-none-any.whl</a><br/>
<a href="https://files.example/pip-26.3-py3-none-any.whl#sha256=bb"
   data-requires-python="&gt;=3.10">pip-26.3-py3-none-any.whl</a>
<a href="https://files.example/pip-27.0-py3-none-any.whl" data-requires-python="&gt;=3.13">pip-27.0-py3-none-any.whl</a>
<a href="https://files.example/pip-26.9-py3-none-any.whl" data-yanked="broken">pip-26.9-py3-none-any.whl</a>
<a href="https://files.example/pip-28.0b1-py3-none-any.whl">pip-28.0b1-py3-none-any.whl</a>
<a href="https://files.example/pip-26.4.tar.gz">pip-26.4.tar.gz</a>
</body></html>"""
URL = "https://pypi.example/simple/pip/"


def test_the_newest_released_wheel_that_this_python_runs() -> None:
    assert bootstrap.newest(PAGE, URL, (3, 11)) == bootstrap.Wheel(
        (26, 3), "https://files.example/pip-26.3-py3-none-any.whl", "bb"
    )
    assert bootstrap.newest(PAGE, URL, (3, 13)).version == (27, 0)


def test_a_relative_link_belongs_to_the_index() -> None:
    wheel = bootstrap.newest(PAGE, URL, (3, 9))
    assert wheel.url == "https://pypi.example/packages/pip-9.0.3-py2.py3-none-any.whl"


def test_a_page_without_wheels_is_named_without_its_secret() -> None:
    with pytest.raises(SetupError, match=r"https://pypi\.example/simple/pip/ lists no wheel") as caught:
        bootstrap.newest("<html></html>", "https://me:secret@pypi.example/simple/pip/", (3, 11))
    assert "secret" not in str(caught.value)


def test_the_environment_rules_over_the_configuration_file(tmp_path: Path) -> None:
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nindex-url = https://site.example/simple/\ncert = /etc/site.pem\n")
    assert bootstrap.index_page({}, []) == "https://pypi.org/simple/pip/"
    assert bootstrap.index_page({}, [file]) == "https://site.example/simple/pip/"
    assert (
        bootstrap.index_page({"PIP_INDEX_URL": "https://env.example/simple"}, [file])
        == "https://env.example/simple/pip/"
    )


def test_the_later_configuration_file_is_the_stronger(tmp_path: Path) -> None:
    site, user = tmp_path / "site.conf", tmp_path / "user.conf"
    site.write_text("[global]\nindex-url = https://site.example/simple\n")
    user.write_text("[global]\nindex-url = https://user.example/simple\n")
    assert bootstrap.index_page({}, [site, user]) == "https://user.example/simple/pip/"


def test_configuration_files_stand_where_pip_looks(tmp_path: Path) -> None:
    files = bootstrap.config_files({"HOME": "/home/u", "PIP_CONFIG_FILE": "/etc/own.conf"})
    assert files == [
        Path("/etc/pip.conf"),
        Path("/home/u/.pip/pip.conf"),
        Path("/home/u/.config/pip/pip.conf"),
        Path("/etc/own.conf"),
    ]


def test_certificates_come_from_pip_first_then_from_ssl(tmp_path: Path) -> None:
    own, other = tmp_path / "own.pem", tmp_path / "other.pem"
    own.touch()
    other.touch()
    assert bootstrap.certificates({"PIP_CERT": str(own), "SSL_CERT_FILE": str(other)}, []) == str(own)
    assert bootstrap.certificates({"SSL_CERT_FILE": str(other)}, []) == str(other)
    assert bootstrap.certificates({"SSL_CERT_FILE": str(tmp_path / "absent.pem")}, []) is None


def test_a_password_travels_in_a_header() -> None:
    request = bootstrap.request_of("https://me:p%40ss@pypi.example/simple/pip/")
    assert request.full_url == URL
    assert request.get_header("Authorization") == "Basic " + base64.b64encode(b"me:p@ss").decode()
    assert bootstrap.request_of(URL).get_header("Authorization") is None
