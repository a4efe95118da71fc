#!/usr/bin/env python3
"""A session program for the tests of launchers; standard library only."""

import json
import os
import platform
import signal
import sys
import threading
import time

WRITING = threading.Lock()


def write(message):
    with WRITING:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def answer(request):
    op = request.get("op")
    if op == "sleep":
        time.sleep(request["seconds"])
        return {"ok": True}
    if op == "echo":
        return {"ok": True, "text": request["text"]}
    if op == "environment":
        return {"ok": True, "argv": sys.argv, "environment": dict(os.environ)}
    if op == "ping":
        return {"ok": True}
    return {"ok": False, "error": {"code": "unknown-op", "message": "there is no such op", "field": "op"}}


def act(request):
    """Misbehave, as a real program might."""
    op = request.get("op")
    if op == "die":
        print("out of luck", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    elif op == "exit":
        print("giving up", file=sys.stderr, flush=True)
        os._exit(request["status"])
    elif op == "babble":
        print("this is not JSON", flush=True)
    elif op == "close-output":
        os.close(1)
        time.sleep(3600)
    elif op == "ignore-end":
        write({"id": request["id"], "ok": True})
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)
    elif op == "leave-child":
        # a child that holds our standard error after our end
        if os.fork() == 0:
            os.close(1)
            time.sleep(5)
            os._exit(0)
        os._exit(3)
    else:
        return False
    return True


def main():
    if "--version" in sys.argv:
        print("0.1.0")
        return
    write(
        {
            "hello": "test-session",
            "version": "0.1.0",
            "protocol": 1,
            "host": platform.node(),
            "arch": platform.machine(),
            "pid": os.getpid(),
        }
    )
    for line in sys.stdin:
        request = json.loads(line)
        if not act(request):
            threading.Thread(target=lambda r=request: write({"id": r["id"], **answer(r)}), daemon=True).start()


if __name__ == "__main__":
    main()
