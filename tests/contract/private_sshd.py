"""An sshd of the tests' own, on 127.0.0.1 and an ephemeral port, with its own keys, accounts and file systems.

As root it lives in a mount namespace: /tmp, /run and the file systems that nodes' caches lie on are its own, and
nothing of the host's is written. A clone that lies in /tmp is still where it was. As another user it is an ordinary
process, without those file systems.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

ROOT = os.geteuid() == 0
CLONE = Path(__file__).parents[2]
INSIDE = "/mnt" if ROOT else ""
"""Where the namespace has the tests' directory: its /tmp is empty, and pytest's directory is in the host's."""

_NAMESPACE = """
mount --make-rprivate / && mount --bind "$1" /mnt && mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd &&
mount --bind /mnt/shadow /etc/shadow &&
mount -t tmpfs -o size=64k tmpfs /mnt/full && mount -t tmpfs -o ro tmpfs /mnt/readonly &&
mount -t tmpfs -o noexec tmpfs /mnt/noexec && mount --bind "$3" /mnt/clone &&
mount -t tmpfs tmpfs /tmp && chmod 1777 /tmp && mkdir -p "$3" && mount --bind /mnt/clone "$3" &&
exec "$2" -D -e -f /mnt/sshd_config
"""


class PrivateSshd:
    """Each ssh host alias that `host` makes is a node; all of them are this sshd."""

    def __init__(self, base: Path):
        self.base = base
        self.inside = Path(INSIDE) if ROOT else base
        self.program = shutil.which("sshd") or "/usr/sbin/sshd"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.config = base / "ssh_config"
        self._hosts: dict[str, str] = {}

    def start(self):
        base, inside = self.base, self.inside
        for directory in ("home", "full", "readonly", "noexec", "caches", "clone"):
            (base / directory).mkdir(mode=0o700)
        for key in ("host_key", "other_key", "id"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", base / key], check=True)
        shutil.copy(base / "id.pub", base / "authorized_keys")
        (base / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {inside}/host_key\n"
            f"AuthorizedKeysFile {inside}/authorized_keys\nPidFile none\nStrictModes no\nUsePAM no\nUseDNS no\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
            "AcceptEnv XDG_CACHE_HOME PATH\nMaxStartups 200\n"
            f"SetEnv HOME={inside}/home\n"
        )
        self.write_known("host_key")
        if ROOT:
            # sshd(8) lets nobody in whose account is locked, as root's is in many containers
            shadow = Path("/etc/shadow").read_text().splitlines()
            lines = ["root:*:::::::" if line.startswith("root:") else line for line in shadow]
            (base / "shadow").write_text("\n".join(lines) + "\n")
            argv = ["unshare", "--mount", "sh", "-c", _NAMESPACE, "sshd", str(base), self.program, str(CLONE)]
        else:
            argv = [self.program, "-D", "-e", "-f", str(base / "sshd_config")]
        with (base / "log").open("w") as log:
            self.process = subprocess.Popen(argv, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        self._wait()

    def _wait(self):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.02)
        raise RuntimeError(f"sshd did not start: {(self.base / 'log').read_text()}")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=10)

    def write_known(self, key, file="known_hosts"):
        words = (self.base / f"{key}.pub").read_text().split()
        (self.base / file).write_text(f"node {words[0]} {words[1]}\n")

    def host(self, name, **options):
        """Make the alias; options are those of ssh_config(5), and ``cache`` is XDG_CACHE_HOME there."""
        cache = options.pop("cache", f"caches/{name}")
        settings = {
            "HostName": "127.0.0.1", "Port": self.port, "IdentityFile": self.base / "id", "IdentitiesOnly": "yes",
            "IdentityAgent": "none", "HostKeyAlias": "node", "UserKnownHostsFile": self.base / "known_hosts",
            "GlobalKnownHostsFile": "/dev/null", "StrictHostKeyChecking": "yes", "UpdateHostKeys": "no",
            "SetEnv": f"XDG_CACHE_HOME={self.inside}/{cache}", **options,
        }  # fmt: skip
        lines = "".join(f"  {key} {value}\n" for key, value in settings.items())
        self._hosts[name] = f"Host {name}\n{lines}"
        self.config.write_text("".join(self._hosts.values()))
        return name

    def run(self, name, command):
        """A command on the node, by hand."""
        return subprocess.run(
            ["ssh", "-F", self.config, name, command], capture_output=True, text=True, timeout=20, check=False
        )
