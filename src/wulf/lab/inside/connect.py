"""ssh's ProxyCommand for a lab: connects from within the lab's network and hands the socket to ssh.

ssh (with `ProxyUseFdpass yes`) then speaks over it directly: this program is gone when the session begins, costs the
measurement nothing, and never touches the host's own network. Source: ssh_config(5), unix(7) "SCM_RIGHTS".
"""

from __future__ import annotations

import socket
import sys

from . import linux


def main(arguments: list[str]) -> int:
    """`connect PID START HOST PORT`: PID and START name the lab's first process."""
    pid, start, host, port = arguments
    try:
        linux.enter(int(pid), start, ("user", "net"))
        connection = socket.create_connection((host, int(port)), timeout=10)
    except ProcessLookupError:
        print("this lab is down; `wulf lab up` makes a new one", file=sys.stderr)
        return 255
    except OSError as error:
        print(f"can't reach {host} port {port} in the lab: {error}", file=sys.stderr)
        return 255
    connection.settimeout(None)
    with socket.socket(fileno=1) as ssh:
        socket.send_fds(ssh, [b"\0"], [connection.fileno()])
    return 0
