"""The server: what each address answers.

Every answer has strict headers, and none opens a file.
"""

import ipaddress
import json
import os
import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from hushgrid.errors import ArgumentError, HushgridError, MissingExtraError
from hushgrid.web.api import answers, areas, cells, polygon_answers, releases
from hushgrid.web.openapi import description
from hushgrid.web.polygons import polygons_in_body
from hushgrid.web.questions import (
    ADDRESS_TOO_LONG,
    BODY_TOO_LARGE,
    IDLE_SECONDS,
    LARGEST_BODY,
    LARGEST_GEOJSON,
    LONGEST_QUERY,
    MOST_CONNECTIONS,
    POLYGONS_AT_ONCE,
    SENT_AHEAD,
    Question,
    RefusalError,
    question_in_address,
    question_in_body,
)
from hushgrid.web.shelf import NAME_OF_SERIES, Page, Shelf, Shelved

if TYPE_CHECKING:
    import uvicorn
    from anyio import CapacityLimiter
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from hushgrid.web.series.served import ServedSeries


# A page carries a stricter policy of its own, and browsers obey both.
PAGE_POLICY = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'"
STRICT = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class StrictHeaders:
    """An application with strict headers on every answer.

    An answer that sets one of them itself keeps its own.
    """

    def __init__(self, application: "ASGIApp") -> None:
        self._application = application

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request, as ASGI has it."""

        async def send_strictly(message: "Message") -> None:
            if message["type"] == "http.response.start":
                given = {name.decode().lower() for name, _ in message["headers"]}
                missing = [(name.encode(), value.encode()) for name, value in STRICT.items() if name not in given]
                message = {**message, "headers": [*message["headers"], *missing]}
            await send(message)

        await self._application(scope, receive, send_strictly)


BAD_REQUEST = 400
NOT_MODIFIED = 304
ABSENT = "there is nothing at this address; /v1/ lists the releases and /openapi.json describes what can be asked."
BROKEN = "something went wrong here; the log of the server tells what."


def routes(shelf: Shelf) -> "list[Route]":
    """Pages for people, and answers in JSON beside them."""
    from anyio import CapacityLimiter
    from starlette.responses import JSONResponse, RedirectResponse
    from starlette.routing import Route

    places = CapacityLimiter(POLYGONS_AT_ONCE)
    first = next(iter(shelf.entries)) if shelf.series is None else NAME_OF_SERIES
    about = description(shelf.entries, series=shelf.series is not None)

    async def start(_request: "Request") -> "Response":
        return RedirectResponse(f"{first}/")

    async def to_page(request: "Request") -> "Response":
        return RedirectResponse(f"{shelf.entry(request.path_params['name']).name}/")

    async def healthz(_request: "Request") -> "Response":
        return JSONResponse({"status": "ok"})

    async def openapi(_request: "Request") -> "Response":
        return JSONResponse(about)

    async def list_releases(_request: "Request") -> "Response":
        return JSONResponse(releases(shelf))

    return [
        Route("/", start),
        Route("/healthz", healthz),
        Route("/openapi.json", openapi),
        Route("/v1/", list_releases),
        *_series_routes(shelf.series, shelf.series_page),
        Route("/v1/{name}/count", partial(_count, shelf), methods=["GET", "POST"]),
        Route("/v1/{name}/cells", partial(_listing, shelf, cells)),
        Route("/v1/{name}/areas", partial(_listing, shelf, areas)),
        Route("/v1/{name}/polygons", partial(_polygons, shelf, places), methods=["POST"]),
        Route("/{name}", to_page),
        Route("/{name}/", partial(_page, shelf)),
    ]


async def refused(_request: "Request", error: Exception) -> "Response":
    """The reason why a request was not answered, as JSON."""
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse

    match error:
        case RefusalError():
            return JSONResponse({"error": str(error)}, error.status)
        case HushgridError():
            return JSONResponse({"error": str(error)}, BAD_REQUEST)
        case HTTPException(headers={"Allow": allowed}):
            reason = f"this address is asked by {allowed} only."
            return JSONResponse({"error": reason}, error.status_code, error.headers)
        case HTTPException():
            return JSONResponse({"error": ABSENT}, error.status_code)
        case _:
            return JSONResponse({"error": BROKEN}, 500)


def _series_routes(series: "ServedSeries | None", page: Page | None) -> "list[Route]":
    """The page of a series, and its answers in JSON, if there is one."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, RedirectResponse
    from starlette.routing import Route

    if series is None or page is None:
        return []

    async def to_page(_request: "Request") -> "Response":
        return RedirectResponse(f"{NAME_OF_SERIES}/")

    async def show(request: "Request") -> "Response":
        return _handed_out(page, request)

    async def places(_request: "Request") -> "Response":
        return await run_in_threadpool(lambda: JSONResponse(series.places))

    async def count(request: "Request") -> "Response":
        ask = await _question(request)
        return await run_in_threadpool(lambda: JSONResponse(series.answers(ask())))

    return [
        Route(f"/{NAME_OF_SERIES}", to_page),
        Route(f"/{NAME_OF_SERIES}/", show),
        Route(f"/v1/{NAME_OF_SERIES}", places),
        Route(f"/v1/{NAME_OF_SERIES}/count", count, methods=["GET", "POST"]),
    ]


async def _page(shelf: Shelf, request: "Request") -> "Response":
    return _handed_out(shelf.pages[shelf.entry(request.path_params["name"]).name], request)


def _handed_out(page: Page, request: "Request") -> "Response":
    """A page, or that the client has it already."""
    from starlette.responses import Response

    headers = {
        "ETag": page.tag,
        "Cache-Control": "no-cache",
        "Content-Security-Policy": PAGE_POLICY,
        "Link": '<../openapi.json>; rel="service-desc"',
    }
    if page.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=NOT_MODIFIED, headers=headers)
    return Response(page.content, headers=headers, media_type="text/html")


async def _count(shelf: Shelf, request: "Request") -> "Response":
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    entry = shelf.entry(request.path_params["name"])
    ask = await _question(request)
    return await run_in_threadpool(lambda: JSONResponse(answers(entry, ask())))


async def _question(request: "Request") -> Callable[[], Question]:
    """What reads the question of a request."""
    if request.method == "POST":
        return partial(question_in_body, await _body(request))
    return partial(question_in_address, _parameters(request))


Listing = Callable[[Shelved, list[tuple[str, str]]], dict[str, Any]]


async def _listing(shelf: Shelf, listed: Listing, request: "Request") -> "Response":
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    entry = shelf.entry(request.path_params["name"])
    parameters = _parameters(request)
    return await run_in_threadpool(lambda: JSONResponse(listed(entry, parameters)))


async def _polygons(shelf: Shelf, places: "CapacityLimiter", request: "Request") -> "Response":
    from anyio.to_thread import run_sync
    from starlette.responses import Response

    entry = shelf.entry(request.path_params["name"])
    parameters = _parameters(request)
    body = await _body(request, LARGEST_GEOJSON)

    def answered() -> Response:
        found = polygon_answers(entry, polygons_in_body(body, parameters))
        # Escaped, since names may hold half of a pair of surrogates, which UTF-8 cannot.
        return Response(json.dumps(found, allow_nan=False), media_type="application/geo+json")

    return await run_sync(answered, limiter=places)


def _parameters(request: "Request") -> list[tuple[str, str]]:
    if len(request.url.query) > LONGEST_QUERY:
        msg = f"an address may have {LONGEST_QUERY:,} characters behind its question mark; ask by POST instead."
        raise RefusalError(ADDRESS_TOO_LONG, msg)
    return request.query_params.multi_items()


async def _body(request: "Request", most: int = LARGEST_BODY) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            msg = f"a body may have {most:,} bytes; ask in several."
            raise RefusalError(BODY_TOO_LARGE, msg)
    return bytes(body)


BACKLOG = 256  # connections that are taken in one go, before any of them can be given up
OTHER_FILES = 200  # beside connections: libraries, releases, what was inherited
GRACE = 5  # seconds for answers under way when the server stops


def application(shelf: Shelf) -> StrictHeaders:
    """The ASGI application that serves a shelf.

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
    """A web server for a shelf.

    ``server(shelf).run(sockets=[listen(...)])`` runs until it is interrupted.
    """
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
    """A listening socket; port 0 is any free one."""
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


def raise_file_limit() -> None:
    """Raise the limit on open files, where allowed."""
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
    reason = getattr(error, "strerror", None) or "it is not the name of a host"
    msg = f"cannot listen on {host} at port {port}: {reason}. Give another host or port; port 0 is any free one."
    return ArgumentError(msg)


def _missing() -> MissingExtraError:
    return MissingExtraError("serving needs starlette and uvicorn: pip install 'hushgrid[server]'.")
