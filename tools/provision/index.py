"""The package index, read as pip reads it, where pip is not there yet, or would run what it fetches.

It is the "simple" one of PEP 503; its links carry the digest (#sha256=) and the Python that a file needs.
"""

from __future__ import annotations

import base64
import configparser
import hashlib
import html
import os
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from provision.runner import SetupError

DEFAULT_INDEX = "https://pypi.org/simple"
NPM_REGISTRY = "https://registry.npmjs.org"
LINK = re.compile(r"<a\s([^>]*)>\s*([^<]+?)\s*</a>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*["']([^"']*)["']""")
CHECK_INDEX = "set PIP_INDEX_URL, https_proxy or PIP_CERT as this site needs them"
CHECK_REGISTRY = "set npm_config_registry, https_proxy or PIP_CERT as this site needs them"


@dataclass(frozen=True)
class File:
    """One file that an index lists; `requires` is its Requires-Python."""

    name: str
    url: str
    sha256: str | None = None
    requires: str = field(default="", compare=False)
    yanked: bool = field(default=False, compare=False)


def config_files(environ: Mapping[str, str]) -> list[Path]:
    """List pip's configuration files, the later the stronger (pip's "Configuration" chapter)."""
    home = Path(environ.get("HOME", "/"))
    user = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    files = [Path("/etc/pip.conf"), home / ".pip/pip.conf", user / "pip/pip.conf"]
    given = environ.get("PIP_CONFIG_FILE")
    return [*files, Path(given)] if given else files


def option(name: str, environ: Mapping[str, str], files: Iterable[Path]) -> str | None:
    """Look up an option of pip, such as index-url: the environment first, then the configuration files."""
    if value := environ.get(f"PIP_{name.upper().replace('-', '_')}"):
        return value
    parser = configparser.RawConfigParser()
    parser.read(files, encoding="utf-8")
    return parser.get("install", name, fallback=parser.get("global", name, fallback=None))


def index_page(project: str, environ: Mapping[str, str], files: Iterable[Path]) -> str:
    """Say where the index lists a project's files."""
    index = option("index-url", environ, files) or DEFAULT_INDEX
    return f"{index.rstrip('/')}/{project}/"


def certificates(environ: Mapping[str, str], files: Iterable[Path]) -> str | None:
    """Name the file or folder of certificates to trust; None leaves it to the system."""
    names = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
    given = option("cert", environ, files) or next((environ[name] for name in names if environ.get(name)), None)
    return given if given and Path(given).exists() else None


def listed(page: str, url: str) -> list[File]:
    """List the files of a project's page, which is at `url`."""
    found = []
    for attributes, name in LINK.findall(page):
        fields = {key.lower(): html.unescape(value) for key, value in ATTRIBUTE.findall(attributes)}
        link, _, fragment = urljoin(url, fields.get("href", "")).partition("#")
        sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
        requires = fields.get("data-requires-python", "")
        found.append(File(name, link, sha256, requires, "data-yanked" in attributes))
    return found


def without_secret(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def request_of(url: str) -> urllib.request.Request:
    """Move a user and password from the URL into a header, as HTTP wants them."""
    request = urllib.request.Request(without_secret(url), headers={"User-Agent": "wulf-setup"})
    parts = urlsplit(url)
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        request.add_header("Authorization", "Basic " + base64.b64encode(secret).decode())
    return request


def _get(url: str, context: ssl.SSLContext, advice: str = CHECK_INDEX) -> bytes:
    try:
        with urllib.request.urlopen(request_of(url), context=context, timeout=60) as answer:
            content: bytes = answer.read()
            return content
    except (urllib.error.URLError, OSError) as error:
        raise SetupError(f"{without_secret(url)} can't be fetched: {error}", advice) from error


def _get_npm(url: str, context: ssl.SSLContext) -> bytes:
    return _get(url, context, CHECK_REGISTRY)


Choose = Callable[[Sequence[File], str], File]
"""Picks one of the files that a page lists, which is at the given place."""

Get = Callable[[str, ssl.SSLContext], bytes]


def fetch(project: str, choose: Choose, environ: Mapping[str, str] = os.environ, get: Get = _get) -> tuple[File, bytes]:
    """Download one file of a project, and check its digest."""
    settings = config_files(environ)
    context = _trusting(certificates(environ, settings))
    page = index_page(project, environ, settings)
    file = choose(listed(get(page, context).decode(errors="replace"), page), without_secret(page))
    content = get(file.url, context)
    if file.sha256 and hashlib.sha256(content).hexdigest() != file.sha256:
        raise SetupError(
            f"{without_secret(file.url)} is not what the index says (sha256)", "try again; is a proxy in between?"
        )
    return file, content


def fetch_npm(name: str, version: str, environ: Mapping[str, str] = os.environ, get: Get = _get_npm) -> bytes:
    """Download a package of npm's registry, or of the mirror that npm's own variable names."""
    registry = environ.get("npm_config_registry") or NPM_REGISTRY
    url = f"{registry.rstrip('/')}/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
    return get(url, _trusting(certificates(environ, config_files(environ))))


def _trusting(bundle: str | None) -> ssl.SSLContext:
    """Trust a file or folder of certificates; None: the system's."""
    at = {"cafile": bundle} if bundle and Path(bundle).is_file() else {"capath": bundle}
    return ssl.create_default_context(**at)
