"""A session without a program."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Answering:
    """Answers at once, whatever is asked: with the answer, the error, or what the function makes of the request."""

    alive = True

    def __init__(self, answer: dict[str, Any] | Exception | Callable[..., Any]) -> None:
        self._answer = answer
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def call(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        self.asked.append((op, fields))
        answer = self._answer(op, **fields) if callable(self._answer) else self._answer
        future: Future[dict[str, Any]] = Future()
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future

    def request(self, op: str, _timeout: float = 30.0, **fields: Any) -> dict[str, Any]:
        return self.call(op, **fields).result()
