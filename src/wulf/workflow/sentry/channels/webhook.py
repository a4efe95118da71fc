"""A webhook: each event is one POST of JSON, with the header Idempotency-Key."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from wulf.sentry.messages import as_json
from wulf.sentry.plan import Tell
from wulf.sentry.state import Delivery
from wulf.workflow.sentry.channels.untold import PATIENCE, Untold


def send(one: Delivery, tell: Tell, key: str) -> None:
    """Taken only with a status of 200 to 299. Certificates are verified, redirections are not followed."""
    request = urllib.request.Request(  # noqa: S310 - http or https, as the plan's schema has it
        tell.webhook, json.dumps(as_json(one, key)).encode(), method="POST",
        headers={"Content-Type": "application/json", "User-Agent": "wulf-sentry", "Idempotency-Key": key},
    )  # fmt: skip
    host = urlsplit(tell.webhook).hostname
    try:
        with urllib.request.build_opener(_Unredirected).open(request, timeout=PATIENCE) as answer:
            answer.read(1024)
    except urllib.error.HTTPError as error:
        error.close()
        raise Untold(f"{host} answered {error.code}") from None  # its text may repeat the address, which is a secret
    except urllib.error.URLError as error:
        raise Untold(f"{host} can't be reached: {_words(error.reason)}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Untold(f"{host} did not answer: {_words(error)}") from None


def _words(error: object) -> str:
    return getattr(error, "strerror", None) or type(error).__name__


class _Unredirected(urllib.request.HTTPRedirectHandler):
    """A POST that is sent on would become a GET, or go to somebody else."""

    def redirect_request(self, *_: Any) -> None:
        """Nothing: the status is an error."""
