"""Headers of everything that is served: nothing may be framed, sniffed, kept or sent on."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """An application whose every answer has the strict headers, unless it set one of them itself."""

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
