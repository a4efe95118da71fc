"""Taking a profile: one folder on all nodes, the library in the ranks' environment, and nothing left behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.model.test_mpi_share import MASTER, WORKER
from tests.unit.sessions import Answering
from wulf.apps.driver import Figure
from wulf.apps.ran import FAILED, OK, Ran
from wulf.core.errors import NodeError
from wulf.workflow.impact.profile import Profiler


def fake(profiles: list[dict[str, Any]], torn: tuple[str, ...] = ()) -> Answering:
    def answer(op: str, **fields: Any) -> dict[str, Any]:
        return {
            "app_folder": {"folder": f"/jobs/{fields.get('name')}", "place": "/jobs"},
            "profile_read": {"profiles": profiles, "torn": list(torn)},
        }.get(op, {})

    return Answering(answer)


def run(environment: Mapping[str, str]) -> Ran:
    assert environment["LD_PRELOAD"] == "/cache/lib.so" and environment["WULF_PROFILE"].startswith("/jobs/profile-")
    assert environment["OMPI_MCA_mca_base_env_list"].startswith("LD_PRELOAD=/cache/lib.so;WULF_PROFILE=/jobs/")
    return Ran(OK, "", (Figure("wall", "s", 20.0, "lower"),), seconds=20.0)


def profiler(*agents: Answering) -> Profiler:
    return Profiler({f"n{i}": agent for i, agent in enumerate(agents, 1)}, "/cache/lib.so")  # type: ignore[misc]


def test_profiles_of_all_nodes_are_read_and_their_folders_removed() -> None:
    agents = fake([MASTER]), fake([WORKER])
    taken = profiler(*agents)(run)
    assert taken.share is not None and taken.share.ranks == 2 and taken.wall == 20.0
    for agent in agents:
        assert [op for op, _ in agent.asked] == ["app_folder", "profile_read", "app_clear"]
    assert agents[1].asked[0][1]["place"] == "/jobs"


def test_a_shared_folder_counts_each_rank_once() -> None:
    both = [MASTER, WORKER]
    taken = profiler(fake(both), fake(both))(run)
    assert taken.share is not None and taken.share.missing == ()


def test_a_rank_without_a_profile_is_named() -> None:
    taken = profiler(fake([MASTER]), fake([]))(run)
    assert taken.share is not None and taken.share.missing == (1,)


def test_why_there_is_none() -> None:
    assert "no rank left a profile" in profiler(fake([]))(run).reason
    assert "rank-0.json: cut" in profiler(fake([MASTER], ("rank-0.json: cut",)))(run).reason
    bad = Ran(FAILED, "it ended with status 1", ())
    assert profiler(fake([MASTER, WORKER]))(lambda _: bad).reason.endswith("it ended with status 1")


def test_a_run_that_is_lost_leaves_no_folder() -> None:
    agent = fake([])

    def lost(_: Mapping[str, str]) -> Ran:
        raise NodeError("n1", "its session ended")

    with pytest.raises(NodeError):
        profiler(agent)(lost)
    assert agent.asked[-1][0] == "app_clear"
