"""Connections with deadlines, and a fair share each.

uvicorn waits forever for the rest of a request, and for a client to read its answer. A thousand silent clients would
lock everyone else out.
"""

import asyncio
import ipaddress
import math
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from hushgrid.web import questions as limits


class Places:
    """All connections, and which can be given up.

    A connection can be given up as long as no whole request has arrived on it. Honest requests arrive in a moment, so
    the connection that waits longest goes first, and there is room for a new one however many wait.
    """

    def __init__(self) -> None:
        self._waits: dict[str, dict[Connection, bool]] = {}  # by client; those that wait longest come first

    def enter(self, connection: "Connection") -> None:
        """Let a connection in; another may have to go."""
        full = None
        if len(self._waits.get(connection.address, ())) >= limits.MOST_OF_ONE_CLIENT:
            full = connection.address
        elif sum(map(len, self._waits.values())) >= limits.MOST_CONNECTIONS:
            full = max(self._waits, key=lambda address: len(self._waits[address]))
        if full is not None:
            longest = next((other for other, waits in self._waits[full].items() if waits), None)
            (connection.refuse if longest is None else longest.drop)()
        self.note(connection, waits=True)

    def note(self, connection: "Connection", *, waits: bool) -> None:
        """Note whether a connection is idle from now on.

        An idle one waits for a request; the others are being answered.
        """
        mine = self._waits.setdefault(connection.address, {})
        mine.pop(connection, None)
        mine[connection] = waits

    def leave(self, connection: "Connection") -> None:
        """Forget a connection."""
        mine = self._waits.get(connection.address, {})
        mine.pop(connection, None)
        if not mine:
            self._waits.pop(connection.address, None)


class Connection(H11Protocol):
    """A connection whose client must finish steps in time.

    The head of a request, then its body, then the reading of the answer. How long the server takes to answer is not
    the client's fault, and has no deadline.
    """

    def __init__(self, places: Places, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.address = ""
        self._places = places
        self._step: tuple[object, bool, bool] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._unsent = math.inf

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the clock, and find a place."""
        super().connection_made(transport)
        self.address = _network(self.client[0]) if self.client else ""
        self._places.enter(self)
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock, and give the place back."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._places.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what arrived.

        Bytes alone buy no time; only the end of a step does.
        """
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._follow()

    def refuse(self) -> None:
        """Answer whatever is asked here with 503."""
        self.limit_concurrency = 0

    def drop(self) -> None:
        """End the connection at once, sending nothing more."""
        self._places.leave(self)
        self.transport.abort()

    @property
    def _is_answered(self) -> bool:
        """Whether a whole request waits for its answer."""
        return self._has_head and not self.cycle.more_body

    @property
    def _has_head(self) -> bool:
        """Whether the head of an unanswered request has arrived."""
        cycle: Any = self.cycle  # which uvicorn has as None before the first request
        return cycle is not None and not cycle.response_complete

    def _follow(self) -> None:
        """Set the clock anew if a step has ended."""
        step = (self.cycle, self._has_head, self._is_answered)
        if step == self._step or self.transport.is_closing():
            return
        self._step, self._unsent = step, math.inf
        self._places.note(self, waits=not self._is_answered)
        self._set_clock(limits.BODY_SECONDS if self._has_head and not self._is_answered else limits.HEAD_SECONDS)

    def _set_clock(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self._overdue)

    def _overdue(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        is_reading = 0 < unsent < self._unsent
        if is_reading or (self._is_answered and not unsent):
            self._unsent = unsent
            self._set_clock(limits.READER_SECONDS)
        else:
            self.drop()


def _network(address: str) -> str:
    """The part of the internet that one client has.

    An IPv4 address, or the /64 that an IPv6 address is in.

    Examples
    --------
    >>> _network("192.0.2.7"), _network("2001:db8::1:2"), _network("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::', '192.0.2.7')
    """
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    return str(known.ipv4_mapped or ipaddress.IPv6Address(int(known) >> 64 << 64))
