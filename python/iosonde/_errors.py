"""What can fail, in the program's own words."""

from __future__ import annotations


class Error(Exception):
    """Anything that this package raises."""


class ProgramError(Error):
    """The program is not there, or cannot be started."""


class ResultError(Error):
    """A text is not a result of iosonde or fio."""


class JobError(Error):
    """The program refused the job, or the run failed.

    ``str(error)`` is what the program printed; ``code`` its exit code (negative: the signal that ended it).
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
