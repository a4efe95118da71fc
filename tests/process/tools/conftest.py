from tests.unit.tools.conftest import make_host, repo, script

__all__ = ["make_host", "repo", "script"]
