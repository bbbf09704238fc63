"""Why a request is not answered."""

from hushgrid.errors import HushgridError

NOT_FOUND = 404
BODY_TOO_LARGE = 413
ADDRESS_TOO_LONG = 414


class RefusalError(HushgridError):
    """A request that cannot be answered, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
