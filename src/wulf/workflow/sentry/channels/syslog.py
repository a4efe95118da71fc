"""The local syslog: a line of each event, as `wulf check --syslog` writes."""

from __future__ import annotations

import syslog

from wulf.sentry.messages import is_grave, line
from wulf.sentry.plan import Tell
from wulf.sentry.state import Delivery


def send(one: Delivery, _tell: Tell, _key: str) -> None:
    """One line; what is worse is an error, what is over a notice."""
    syslog.syslog(syslog.LOG_ERR if is_grave(one) else syslog.LOG_NOTICE, line(one))
