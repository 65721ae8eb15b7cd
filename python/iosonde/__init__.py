"""Run iosonde from Python, and read results of iosonde and fio.

    >>> import iosonde
    >>> result = iosonde.run({"name": "test", "size": "64m", "rw": "randread", "direct": True})
    >>> result.conclusion, result.jobs[0].read.iops

The program is the one that this package carries, or the one that IOSONDE names, or the one in PATH.
"""

from ._errors import Error, JobError, ProgramError, ResultError
from ._result import Finding, Job, Lane, Result, load, loads
from ._run import Live, program, run

__all__ = [
    "Error",
    "Finding",
    "Job",
    "JobError",
    "Lane",
    "Live",
    "ProgramError",
    "Result",
    "ResultError",
    "load",
    "loads",
    "program",
    "run",
]
