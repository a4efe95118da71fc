"""The package index is read as pip reads it: its place, certificates and secrets; a file is what its digest says."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
from provision import index
from provision.runner import SetupError

URL = "https://pypi.example/simple/pip/"


def test_a_password_is_in_no_message() -> None:
    assert index.without_secret("https://me:secret@pypi.example/simple/pip/") == URL


def test_the_environment_rules_over_the_configuration_file(tmp_path: Path) -> None:
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nindex-url = https://site.example/simple/\ncert = /etc/site.pem\n")
    assert index.index_page("pip", {}, []) == "https://pypi.org/simple/pip/"
    assert index.index_page("pip", {}, [file]) == "https://site.example/simple/pip/"
    assert (
        index.index_page("pip", {"PIP_INDEX_URL": "https://env.example/simple"}, [file])
        == "https://env.example/simple/pip/"
    )


def test_the_later_configuration_file_is_the_stronger(tmp_path: Path) -> None:
    site, user = tmp_path / "site.conf", tmp_path / "user.conf"
    site.write_text("[global]\nindex-url = https://site.example/simple\n")
    user.write_text("[global]\nindex-url = https://user.example/simple\n")
    assert index.index_page("pip", {}, [site, user]) == "https://user.example/simple/pip/"


def test_configuration_files_stand_where_pip_looks(tmp_path: Path) -> None:
    files = index.config_files({"HOME": "/home/u", "PIP_CONFIG_FILE": "/etc/own.conf"})
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
    assert index.certificates({"PIP_CERT": str(own), "SSL_CERT_FILE": str(other)}, []) == str(own)
    assert index.certificates({"SSL_CERT_FILE": str(other)}, []) == str(other)
    assert index.certificates({"SSL_CERT_FILE": str(tmp_path / "absent.pem")}, []) is None


def test_a_password_travels_in_a_header() -> None:
    request = index.request_of("https://me:p%40ss@pypi.example/simple/pip/")
    assert request.full_url == URL
    assert request.get_header("Authorization") == "Basic " + base64.b64encode(b"me:p@ss").decode()
    assert index.request_of(URL).get_header("Authorization") is None


def served(page: str, files: dict[str, bytes]) -> index.Get:
    """An index that has these files."""
    found = {"https://pypi.org/simple/thing/": page.encode(), **files}
    return lambda url, _: found[url]


def test_a_file_is_the_one_whose_digest_the_index_gives() -> None:
    digest = hashlib.sha256(b"right").hexdigest()
    page = f'<a href="https://files.example/thing-1.tar.gz#sha256={digest}">thing-1.tar.gz</a>'
    url = "https://files.example/thing-1.tar.gz"
    file, content = index.fetch("thing", lambda files, _: files[0], {"HOME": "/absent"}, served(page, {url: b"right"}))
    assert (file.name, file.sha256, content) == ("thing-1.tar.gz", digest, b"right")
    with pytest.raises(SetupError, match="not what the index says"):
        index.fetch("thing", lambda files, _: files[0], {"HOME": "/absent"}, served(page, {url: b"wrong"}))


def test_npm_s_registry_is_the_one_that_npm_would_ask() -> None:
    def get(url: str, _: object) -> bytes:
        return url.encode()

    here = {"HOME": "/absent"}
    assert index.fetch_npm("plot.js", "1.2.3", here, get) == b"https://registry.npmjs.org/plot.js/-/plot.js-1.2.3.tgz"
    mirror = {**here, "npm_config_registry": "https://site.example/npm/"}
    found = index.fetch_npm("@dist/plot", "1.2.3", mirror, get)
    assert found == b"https://site.example/npm/@dist/plot/-/plot-1.2.3.tgz"
