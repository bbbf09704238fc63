"""The server: pages and answers for finished synopses. It takes synopses, and opens no file at all."""

import ipaddress
import os
import socket
from functools import partial
from typing import TYPE_CHECKING, cast

from hushgrid.errors import ArgumentError, HushgridError, MissingExtraError
from hushgrid.web.headers import StrictHeaders
from hushgrid.web.limits import IDLE_SECONDS, MOST_CONNECTIONS, SENT_AHEAD
from hushgrid.web.routes import refused, routes
from hushgrid.web.shelf import Shelf

if TYPE_CHECKING:
    import uvicorn

BACKLOG = 256  # connections that are taken in one go, before any of them can be given up
OTHER_FILES = 200  # beside connections: libraries, releases, what was inherited
GRACE = 5  # seconds for answers under way when the server stops


def application(shelf: Shelf) -> StrictHeaders:
    """The ASGI application that serves a shelf, for any server that runs such.

    Answers come from several threads at once. There are no cookies, no sessions, nothing is logged of a question, and
    no other site may read an answer in a visitor's browser.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.requests import ClientDisconnect
    except ImportError as error:
        raise _missing() from error
    kinds = (HushgridError, HTTPException, ClientDisconnect, Exception)
    inner = Starlette(routes=routes(shelf), exception_handlers=dict.fromkeys(kinds, refused))
    inner.router.redirect_slashes = False  # it would repeat whatever host a client says it asks
    return StrictHeaders(inner)


def server(shelf: Shelf) -> "uvicorn.Server":
    """A web server for a shelf; ``server(shelf).run(sockets=[listen(...)])`` runs until it is interrupted."""
    try:
        import uvicorn

        from hushgrid.web.connections import Connection, Places
    except ImportError as error:
        raise _missing() from error
    config = uvicorn.Config(
        application(shelf),
        http=cast("type[Connection]", partial(Connection, Places())),  # whatever makes a protocol will do
        lifespan="off",
        ws="none",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on; port 0 is any free one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # asyncio sends small answers at once only where a socket knows its protocol, which create_server leaves out.
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise _deaf(host, port, error) from None
    try:
        if os.name == "posix":  # elsewhere it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SENT_AHEAD)  # which connections inherit
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _deaf(host, port, error) from None
    return listener


def make_room() -> None:
    """Let this process have a file for every connection, as far as the system allows."""
    try:
        import resource
    except ImportError:  # elsewhere there is no such limit
        return
    wanted = MOST_CONNECTIONS + 2 * BACKLOG + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def address_of(listener: socket.socket) -> str:
    """Where a browser finds what listens there."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_open(listener: socket.socket) -> bool:
    """Whether other machines may reach what listens there."""
    return not ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def _deaf(host: str, port: int, error: Exception) -> ArgumentError:
    reason = getattr(error, "strerror", None) or "it is no name of a host"
    msg = f"cannot listen on {host} at port {port}: {reason}. Give another host or port; port 0 is any free one."
    return ArgumentError(msg)


def _missing() -> MissingExtraError:
    return MissingExtraError("serving needs starlette and uvicorn: pip install 'hushgrid[server]'.")
