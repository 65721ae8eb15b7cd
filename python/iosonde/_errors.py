"""What can fail, in the program's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from ._result import Result


class Error(Exception):
    """Anything that this package raises."""


class ProgramError(Error):
    """The program is not there, or cannot be started."""


class ResultError(Error):
    """A text is not a result of iosonde or fio."""


class JobError(Error):
    """The program refused the job, or the run failed.

    ``str(error)`` is what the program printed; ``code`` its exit code (negative: the signal that ended it);
    ``result`` the result up to the error, if there is one: a job that is refused has none.
    """

    def __init__(self, message: str, code: int, result: Optional[Result] = None) -> None:
        super().__init__(message, code, result)
        self.code = code
        self.result = result

    def __str__(self) -> str:
        return str(self.args[0])
