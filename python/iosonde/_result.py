"""Results of iosonde and fio as typed objects. All of the document is in ``Result.document``."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Union

from ._errors import ResultError

Document = Dict[str, Any]

# How a further document begins.
_ANOTHER = re.compile(r'^\{\s*"fio version"', re.MULTILINE)


@dataclass(frozen=True)
class Lane:
    """The figures of one direction of one job. Latencies are those of fio's ``clat_ns``: from the submission of
    an I/O to its completion, in nanoseconds."""

    ios: int
    bytes: int
    iops: float
    bytes_per_s: float
    latency_mean_ns: float
    latency_max_ns: float
    percentiles_ns: Dict[float, int]

    def percentile(self, rank: float) -> Optional[int]:
        """The percentile in nanoseconds if the result has it: ``percentile(99)``."""
        return self.percentiles_ns.get(float(rank))


@dataclass(frozen=True)
class Finding:
    """A finding of the verdict: ``severity`` is ``note``, ``warning`` or ``wrong``."""

    id: str
    severity: str
    statement: str
    remedy: Optional[str]
    jobs: List[str]


@dataclass(frozen=True)
class Job:
    """One job, or one reporting group. ``host`` is where it ran, in a result of several hosts (``client_stats``).

    ``sync`` are fsync and similar, with latencies and without bytes. ``failure`` says why the job failed, and
    ``durable_bytes_per_s`` is the rate of its writes with write-back included: both are iosonde's, None where a
    result does not have them."""

    name: str
    host: Optional[str]
    error: int
    read: Lane
    write: Lane
    trim: Lane
    options: Dict[str, str]
    sync: Lane
    failure: Optional[str]
    durable_bytes_per_s: Optional[float]

    @property
    def failed(self) -> bool:
        """Whether the job ended with an error."""
        return self.error != 0 or self.failure is not None


@dataclass(frozen=True)
class Result:
    """A result. ``conclusion``, ``outcome`` (``completed``, ``failed``, ``stopped`` or ``nothing``), ``findings``,
    ``durable_bytes_per_s`` (of all writes) and ``messages`` (warnings about options, a line each) are those of iosonde;
    a result of fio has none."""

    version: str
    jobs: List[Job]
    conclusion: Optional[str]
    findings: List[Finding]
    messages: List[str]
    outcome: Optional[str]
    durable_bytes_per_s: Optional[float]
    document: Document = field(repr=False)

    @property
    def failed_jobs(self) -> List[Job]:
        """The jobs that ended with an error."""
        return [job for job in self.jobs if job.failed]


def load(path: Union[str, "os.PathLike[str]"]) -> Result:
    """The result in a file: JSON of iosonde or of fio 3 (``--output-format=json`` or ``json+``), also of fio's client.

    Raises :class:`ResultError` if it is none, and OSError if it cannot be read."""
    with open(path, "rb") as file:
        text = file.read()
    try:
        return loads(text.decode(errors="replace"))
    except ResultError as error:
        raise ResultError(f"{os.fspath(path)}: {error}") from None


def loads(text: str) -> Result:
    """The result in a text. Lines before it, as fio's notes, are skipped; of several (``--status-interval``) the last
    is taken."""
    begin = text.find("{")
    if begin < 0:
        raise ResultError("not a result: there is no JSON object")
    document = None
    while begin >= 0:
        try:
            document, end = json.JSONDecoder().raw_decode(text, begin)
        except ValueError as error:
            raise ResultError(f"not a result: {error}") from None
        next_one = _ANOTHER.search(text, end)
        begin = next_one.start() if next_one else -1
    if not isinstance(document, dict):
        raise ResultError("not a result: there is no JSON object")
    version, jobs = document.get("fio version"), document.get("jobs", document.get("client_stats"))
    if not isinstance(version, str) or not isinstance(jobs, list):
        raise ResultError('not a result: it has no "fio version" and "jobs"')
    if version.startswith(("fio-1.", "fio-2.")):
        raise ResultError(f"a result of {version}, which has other units: iosonde report and iosonde audit read it")
    try:
        return _result(document, jobs)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ResultError(f"not a result: a part is not of its form ({error})") from None


def _result(document: Document, jobs: List[Document]) -> Result:
    own = document.get("iosonde") or {}
    ledger = own.get("ledger") or {}
    verdict = ledger.get("verdict") or []
    # Jobs of iosonde's part are those of fio's, unless a group merged some.
    ours, accounts = own.get("jobs") or [], ledger.get("jobs") or []
    ours = ours if len(ours) == len(jobs) else [{}] * len(jobs)
    accounts = accounts if len(accounts) == len(jobs) else [{}] * len(jobs)
    conclusion = own.get("conclusion") or {}
    return Result(
        version=own.get("version") or document["fio version"],
        jobs=[_job(*parts) for parts in zip(jobs, ours, accounts)],
        conclusion=conclusion.get("text"),
        findings=[
            Finding(one["id"], one["severity"], one["statement"], one.get("remedy"), list(one.get("jobs", [])))
            for one in verdict
        ],
        messages=[str(one) for one in [*own.get("diagnostics", []), *own.get("notes", [])]],
        outcome=conclusion.get("outcome"),
        durable_bytes_per_s=_durable(ledger),
        document=document,
    )


def _durable(account: Document) -> Optional[float]:
    # What is not known is an object with the reason.
    rate = (account.get("writes") or {}).get("durable_bytes_per_s")
    return float(rate) if isinstance(rate, (int, float)) else None


def _job(job: Document, ours: Document, account: Document) -> Job:
    failure, sync = (ours.get("failure") or {}).get("text"), job.get("sync") or {}
    return Job(
        name=str(job.get("jobname", "")),
        host=job.get("hostname"),
        error=int(job.get("error", 0)),
        read=_lane(job.get("read") or {}),
        write=_lane(job.get("write") or {}),
        trim=_lane(job.get("trim") or {}),
        options={str(name): str(value) for name, value in (job.get("job options") or {}).items()},
        sync=_lane({**sync, "clat_ns": sync.get("lat_ns"), "iops": _per_second(sync, job)}),
        failure=str(failure) if failure is not None else None,
        durable_bytes_per_s=_durable(account),
    )


def _per_second(sync: Document, job: Document) -> float:
    runtime_ms = max(float((job.get(lane) or {}).get("runtime", 0)) for lane in ("read", "write", "trim"))
    return float(sync.get("total_ios", 0)) * 1000.0 / runtime_ms if runtime_ms > 0 else 0.0


def _lane(lane: Document) -> Lane:
    latency = lane.get("clat_ns") or {}
    percentiles = latency.get("percentile") or {}
    return Lane(
        ios=int(lane.get("total_ios", 0)),
        bytes=int(lane.get("io_bytes", 0)),
        iops=float(lane.get("iops", 0)),
        bytes_per_s=float(lane.get("bw_bytes", 0)),
        latency_mean_ns=float(latency.get("mean", 0)),
        latency_max_ns=float(latency.get("max", 0)),
        percentiles_ns={float(rank): int(value) for rank, value in percentiles.items()},
    )
