"""Which address is answered with what."""

from functools import partial
from typing import TYPE_CHECKING

from hushgrid.errors import HushgridError
from hushgrid.web.api import answers, cells, releases
from hushgrid.web.headers import PAGE_POLICY
from hushgrid.web.limits import LARGEST_BODY, LONGEST_QUERY
from hushgrid.web.openapi import description
from hushgrid.web.question import question_in_address, question_in_body
from hushgrid.web.refusal import ADDRESS_TOO_LONG, BODY_TOO_LARGE, RefusalError
from hushgrid.web.shelf import Shelf

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

BAD_REQUEST = 400
NOT_MODIFIED = 304
ABSENT = "there is nothing at this address; /v1/ lists the releases and /openapi.json describes what can be asked."
BROKEN = "something went wrong here; the log of the server tells what."


def routes(shelf: Shelf) -> "list[Route]":
    """Pages for people, and answers in JSON beside them."""
    from starlette.responses import JSONResponse, RedirectResponse
    from starlette.routing import Route

    first = next(iter(shelf.entries))
    about = description(shelf.entries)

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
        Route("/v1/{name}/count", partial(_count, shelf), methods=["GET", "POST"]),
        Route("/v1/{name}/cells", partial(_cells, shelf)),
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


async def _page(shelf: Shelf, request: "Request") -> "Response":
    from starlette.responses import Response

    page = shelf.pages[shelf.entry(request.path_params["name"]).name]
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
    if request.method == "POST":
        ask = partial(question_in_body, await _body(request))
    else:
        ask = partial(question_in_address, _parameters(request))
    return await run_in_threadpool(lambda: JSONResponse(answers(entry, ask())))


async def _cells(shelf: Shelf, request: "Request") -> "Response":
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    entry = shelf.entry(request.path_params["name"])
    parameters = _parameters(request)
    return await run_in_threadpool(lambda: JSONResponse(cells(entry, parameters)))


def _parameters(request: "Request") -> list[tuple[str, str]]:
    if len(request.url.query) > LONGEST_QUERY:
        msg = f"an address may have {LONGEST_QUERY:,} characters behind its question mark; ask by POST instead."
        raise RefusalError(ADDRESS_TOO_LONG, msg)
    return request.query_params.multi_items()


async def _body(request: "Request") -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            msg = f"a body may have {LARGEST_BODY:,} bytes; ask in several."
            raise RefusalError(BODY_TOO_LARGE, msg)
    return bytes(body)
