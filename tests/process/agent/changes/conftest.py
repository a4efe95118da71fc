from tests.unit.agent.changes.conftest import node

__all__ = ["node"]
