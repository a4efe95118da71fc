"""pip's wheel is found as pip itself would find it."""

from __future__ import annotations

import pytest
from provision import bootstrap, index
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


FILES = index.listed(PAGE, URL)


def test_the_newest_released_wheel_that_this_python_runs() -> None:
    found = bootstrap.newest(FILES, URL, (3, 11))
    assert found == index.File("pip-26.3-py3-none-any.whl", "https://files.example/pip-26.3-py3-none-any.whl", "bb")
    assert bootstrap.newest(FILES, URL, (3, 13)).name == "pip-27.0-py3-none-any.whl"


def test_a_relative_link_belongs_to_the_index() -> None:
    wheel = bootstrap.newest(FILES, URL, (3, 9))
    assert wheel.url == "https://pypi.example/packages/pip-9.0.3-py2.py3-none-any.whl"


def test_a_page_without_wheels_is_named() -> None:
    with pytest.raises(SetupError, match=r"https://pypi\.example/simple/pip/ lists no wheel"):
        bootstrap.newest([], URL, (3, 11))
