"""Real remotes on loopback: git over SSH and git smart HTTP, as context managers.

Each serves the bare repositories that lie in one directory, with its own keys, and is gone afterwards:

    with ssh_remote(tmp_path / "ssh", tmp_path / "remotes") as remote:
        remote.url("project.git")           # ssh://root@127.0.0.1:PORT/…/remotes/project.git
    with http_remote(tmp_path / "remotes", credentials=("agent", "secret"), tls=tmp_path / "tls") as remote:
        remote.url("project.git")           # https://localhost:PORT/project.git
"""

from __future__ import annotations

import base64
import getpass
import json
import os
import shlex
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

START_SECONDS = 10.0
# What a server's own git runs with: nothing of the person who runs the tests.
SERVER_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/nonexistent/gitconfig",
}


def free_port() -> int:
    """Return a loopback TCP port that nothing listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def bare_repository(path: Path, branch: str = "main") -> Path:
    """Create an empty bare repository that accepts pushes over HTTP, and return its path."""
    command = ["git", "init", "-q", "--bare", "-b", branch, str(path)]
    subprocess.run(command, check=True, env=SERVER_ENVIRONMENT)
    setting = ["git", "-C", str(path), "config", "http.receivepack", "true"]
    subprocess.run(setting, check=True, env=SERVER_ENVIRONMENT)
    return path


# --- SSH -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SshRemote:
    """A running sshd that offers git-shell and nothing else.

    `key` is accepted, `stranger_key` is not; `known_hosts` names this server's host key, `wrong_known_hosts`
    another one for the same address (what a client sees after the server was replaced).
    """

    repositories: Path
    user: str
    port: int
    key: Path
    stranger_key: Path
    known_hosts: Path
    wrong_known_hosts: Path
    log: Path

    def url(self, name: str) -> str:
        return f"ssh://{self.user}@127.0.0.1:{self.port}{self.repositories / name}"

    def scp_like_url(self, name: str) -> str:
        """The same without a port: for showing and parsing, not for connecting."""
        return f"{self.user}@127.0.0.1:{self.repositories / name}"

    def ssh_command(self, *, key: Path | None = None, known_hosts: Path | None = None) -> str:
        """What GIT_SSH_COMMAND is for a client of this server."""
        words = ["ssh", "-F", "none", "-i", str(key or self.key), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"]
        words += ["-o", f"UserKnownHostsFile={known_hosts or self.known_hosts}", "-o", "StrictHostKeyChecking=yes"]
        return shlex.join(words)


def _make_key(path: Path) -> Path:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", path.name, "-f", str(path)]
    subprocess.run(command, check=True)
    return path


def _sshd_settings(home: Path, port: int) -> str:
    environment = " ".join(f"{name}={value}" for name, value in SERVER_ENVIRONMENT.items())
    return f"""
ListenAddress 127.0.0.1
Port {port}
HostKey {home / "host_key"}
PidFile {home / "sshd.pid"}
AuthorizedKeysFile {home / "authorized_keys"}
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin forced-commands-only
PermitUserRC no
PrintMotd no
MaxStartups 100
SetEnv {environment}
"""


@contextmanager
def ssh_remote(home: Path, repositories: Path) -> Iterator[SshRemote]:
    """Run an sshd of one's own on loopback; keys, log and settings lie in `home` (made here).

    Needs the part "sshd": it logs the caller in by key to one forced command, `git-shell`, so no account is made.
    """
    home.mkdir(mode=0o700, parents=True)
    repositories.mkdir(parents=True, exist_ok=True)
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd's chroot for its unprivileged part
    key, stranger = _make_key(home / "client_key"), _make_key(home / "stranger_key")
    host_key, other_host_key = _make_key(home / "host_key"), _make_key(home / "other_host_key")
    forced = 'restrict,command="/usr/bin/git-shell -c \\"$SSH_ORIGINAL_COMMAND\\""'
    (home / "authorized_keys").write_text(f"{forced} {key.with_suffix('.pub').read_text()}")
    port = free_port()
    (home / "sshd_config").write_text(_sshd_settings(home, port))
    for name, public in (("known_hosts", host_key), ("wrong_known_hosts", other_host_key)):
        (home / name).write_text(f"[127.0.0.1]:{port} {public.with_suffix('.pub').read_text()}")
    remote = SshRemote(
        repositories=repositories,
        user=getpass.getuser(),
        port=port,
        key=key,
        stranger_key=stranger,
        known_hosts=home / "known_hosts",
        wrong_known_hosts=home / "wrong_known_hosts",
        log=home / "sshd.log",
    )
    argv = ["/usr/sbin/sshd", "-D", "-f", str(home / "sshd_config"), "-E", str(remote.log)]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True) as server:
        try:
            _await_banner(server, remote)
            yield remote
        finally:
            server.terminate()


def _await_banner(server: subprocess.Popen[bytes], remote: SshRemote) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", remote.port), timeout=1.0) as probe:
            if probe.recv(4) == b"SSH-":
                return
        time.sleep(0.01)
    log = remote.log.read_text() if remote.log.exists() else ""
    raise RuntimeError(f"sshd did not start: {log}")


# --- smart HTTP ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """One HTTP request as the server got it."""

    method: str
    target: str  # path and query
    authorization: str | None


@dataclass
class HttpRemote:
    """A running `git http-backend`. Its fields may be changed while it runs.

    `credentials`: (user, password) that basic authentication demands. `status`: answer everything with it.
    `redirect`: answer everything with a redirect to this prefix. `hang`: read the request and never answer.
    `large`: what the Git LFS server beside each repository (`NAME.git/info/lfs`) holds, by its id.
    """

    repositories: Path
    port: int
    authority: Path | None  # the certificate to trust (http.sslCAInfo), where it speaks TLS
    credentials: tuple[str, str] | None = None
    status: int | None = None
    redirect: str | None = None
    hang: bool = False
    large: dict[str, bytes] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def url(self, name: str) -> str:
        return f"{'https' if self.authority else 'http'}://localhost:{self.port}/{name}"


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # joined at the end, so that no test leaves a thread behind
    remote: HttpRemote

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # git sends chunked bodies only to a server that speaks it
    timeout = 30.0
    server: _Server

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: what was asked is in `HttpRemote.seen`."""

    def _serve(self) -> None:
        self.close_connection = True
        remote = self.server.remote
        body = self._body()
        authorization = self.headers.get("Authorization")
        remote.seen.append(Seen(self.command, self.path, authorization))
        if remote.hang:
            remote.stopping.wait()
        elif remote.redirect is not None:
            self._answer(302, {"Location": remote.redirect + self.path}, b"")
        elif remote.status is not None:
            extra = {"WWW-Authenticate": 'Basic realm="git"'} if remote.status == 401 else {}
            self._answer(remote.status, extra, b"the server says no\n")
        elif remote.credentials and authorization != _basic(*remote.credentials):
            self._answer(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"")
        elif "/info/lfs/" in self.path:
            self._large(body)
        else:
            self._backend(body)

    def _large(self, body: bytes) -> None:
        """The batch API of Git LFS with its basic transfer: where each object is to be put or got."""
        remote, place = self.server.remote, self.path.partition("/info/lfs/")[2]
        if place == "objects/batch":
            asked = json.loads(body)
            prefix = f"{remote.url(self.path.partition('/info/lfs/')[0].lstrip('/'))}/info/lfs/content"
            verb, there = asked["operation"], asked["operation"] == "download"
            answers = [
                {
                    **one,
                    "actions": {verb: {"href": f"{prefix}/{one['oid']}"}}
                    if (one["oid"] in remote.large) == there
                    else {},
                }
                for one in asked["objects"]
            ]
            kind = {"Content-Type": "application/vnd.git-lfs+json"}
            self._answer(200, kind, json.dumps({"transfer": "basic", "objects": answers}).encode())
        elif self.command == "PUT":
            remote.large[place.removeprefix("content/")] = body
            self._answer(200, {}, b"")
        else:
            self._answer(200, {}, remote.large.get(place.removeprefix("content/"), b""))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _backend(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environment = SERVER_ENVIRONMENT | {
            "GIT_PROJECT_ROOT": str(self.server.remote.repositories),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode("ascii").splitlines() if ": " in line)
        status = int(headers.pop("Status", "200" if done.returncode == 0 else "500").split()[0])
        self._answer(status, headers, content)

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


def _certificate(home: Path) -> tuple[Path, Path]:
    """Make a self-signed certificate for localhost in `home` and return (certificate, key)."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    certificate, key = home / "certificate.pem", home / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


@contextmanager
def http_remote(
    repositories: Path, *, credentials: tuple[str, str] | None = None, tls: Path | None = None
) -> Iterator[HttpRemote]:
    """Serve `repositories` by git smart HTTP on loopback; with `tls` (a directory, made here) by HTTPS.

    Needs the part "http-backend", and for `tls` the openssl program.
    """
    repositories.mkdir(parents=True, exist_ok=True)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        authority = None
        if tls is not None:
            authority, key = _certificate(tls)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(authority, key)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        remote = HttpRemote(repositories, server.server_address[1], authority, credentials)
        server.remote = remote
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name="http-remote")
        thread.start()
        try:
            yield remote
        finally:
            remote.stopping.set()
            server.shutdown()
            thread.join()


# --- a port that only listens --------------------------------------------------------------------------------


@dataclass
class Listener:
    """A TCP port that accepts and says nothing; `connections` counts who came."""

    port: int
    connections: int = 0


@contextmanager
def silent_listener() -> Iterator[Listener]:
    """Listen on loopback: a canary for connections that must not happen, and a remote that hangs."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        listener = Listener(server.getsockname()[1])
        held: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:  # shut down
                    return
                held.append(connection)
                listener.connections += 1

        thread = threading.Thread(target=accept, name="silent-listener")
        thread.start()
        try:
            yield listener
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in held:
                connection.close()


def git_environment(remote: SshRemote | HttpRemote) -> dict[str, str]:
    """What a plain git client needs in its environment to talk to `remote` (for setting a test up)."""
    people = {name: value for name, value in os.environ.items() if name.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_"))}
    environment = SERVER_ENVIRONMENT | people | {"GIT_TERMINAL_PROMPT": "0", "HOME": "/nonexistent"}
    if isinstance(remote, SshRemote):
        environment["GIT_SSH_COMMAND"] = remote.ssh_command()
    elif remote.authority is not None:
        environment["GIT_SSL_CAINFO"] = str(remote.authority)
    return environment
