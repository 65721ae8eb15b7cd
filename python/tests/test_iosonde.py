"""Runs the package against the program: small jobs, and results of iosonde and fio."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Dict, List, Union

import pytest

import iosonde

NULL: Dict[str, Union[str, int, float, bool]] = {"name": "null", "ioengine": "null", "size": "16m", "rw": "randread", "bs": "4k"}


def test_options_of_a_job_give_a_result_with_its_figures(tmp_path: Path) -> None:
    result = iosonde.run({"name": "job", "size": "1m", "rw": "write", "bs": 4096, "end_fsync": True}, cwd=tmp_path)
    (job,) = result.jobs
    assert (job.name, job.error) == ("job", 0)
    assert (job.write.ios, job.write.bytes, job.read.ios) == (256, 1 << 20, 0)
    assert job.options["end_fsync"] == "1"
    assert (tmp_path / "job.0.0").stat().st_size == 1 << 20
    assert result.version.startswith("iosonde ") and result.conclusion
    assert "short-run" in [finding.id for finding in result.findings]
    p99 = job.write.percentile(99)
    assert p99 is not None and 0 < p99 <= job.write.latency_max_ns


def test_a_job_has_its_syncs_and_its_durable_rate(tmp_path: Path) -> None:
    result = iosonde.run({"name": "log", "size": "64k", "rw": "write", "bs": "4k", "fdatasync": 1}, cwd=tmp_path)
    (job,) = result.jobs
    assert (job.sync.ios, job.failed, job.failure, result.outcome) == (16, False, None, "completed")
    p99 = job.sync.percentile(99)
    assert p99 is not None and 0 < p99 <= job.sync.latency_max_ns and job.sync.iops > 0
    assert job.durable_bytes_per_s is None or job.durable_bytes_per_s > 0
    assert result.failed_jobs == []


def test_several_jobs_run_together() -> None:
    result = iosonde.run([NULL, {**NULL, "name": "other", "size": "8m"}])
    assert [(job.name, job.read.ios) for job in result.jobs] == [("null", 4096), ("other", 2048)]


def test_a_job_file_runs_and_its_result_loads_again(tmp_path: Path) -> None:
    job = tmp_path / "job.fio"
    job.write_text("[a]\nioengine=null\nsize=1m\nrw=read\nbs=64k\n")
    result = iosonde.run(job)
    assert result.jobs[0].read.ios == 16
    stored = tmp_path / "result.json"
    stored.write_text("a note before it\n" + json.dumps(result.document))
    assert iosonde.load(stored) == result
    # Of several, as --status-interval prints them, the last.
    earlier = json.dumps({**result.document, "jobs": []})
    stored.write_text(f"{earlier}\n{json.dumps(result.document)}\na line of text\n")
    assert iosonde.load(stored) == result
    stored.write_text(f"{earlier}\n{json.dumps(result.document)[:-9]}")
    with pytest.raises(iosonde.ResultError):
        iosonde.load(stored)


def test_a_result_of_fio_loads() -> None:
    lane = {"total_ios": 3, "io_bytes": 12288, "iops": 1.5, "bw_bytes": 6144}
    lane["clat_ns"] = {"mean": 2.0, "max": 9, "percentile": {"99.000000": 8}}  # type: ignore[assignment]
    text = json.dumps({"fio version": "fio-3.33", "jobs": [{"jobname": "x", "error": 0, "read": lane}]})
    hosts = json.dumps({"fio version": "fio-3.33", "client_stats": [{"jobname": "x", "hostname": "h1", "read": lane}]})
    (job,) = iosonde.loads(hosts).jobs
    assert (job.host, job.read.ios) == ("h1", 3)
    result = iosonde.loads(text)
    assert (result.version, result.conclusion, result.findings) == ("fio-3.33", None, [])
    assert result.jobs[0].read.percentile(99) == 8 and result.jobs[0].write.ios == 0


def test_what_the_program_refuses_is_raised_in_its_words() -> None:
    with pytest.raises(iosonde.JobError, match='rw: invalid value "sideways"') as raised:
        iosonde.run({**NULL, "rw": "sideways"})
    assert raised.value.code == 1


def test_a_run_that_fails_has_its_result_up_to_the_error(tmp_path: Path) -> None:
    wrong = {"name": "wrong", "size": "64k", "rw": "read", "bs": "4k", "verify": "crc32c", "filename": "zeros"}
    (tmp_path / "zeros").write_bytes(bytes(65536))
    with pytest.raises(iosonde.JobError, match="verify") as raised:
        iosonde.run(wrong, cwd=tmp_path)
    assert raised.value.code == 1
    assert raised.value.result is not None and raised.value.result.jobs[0].error != 0
    (failed,) = raised.value.result.failed_jobs
    assert failed.failure and raised.value.result.outcome == "failed"
    # As in a pool of processes.
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.code, again.result) == (str(raised.value), 1, raised.value.result)
    with pytest.raises(iosonde.JobError) as refused:
        iosonde.run({**NULL, "bs": "none"})
    assert refused.value.result is None


def test_warnings_about_options_are_messages_of_the_result() -> None:
    assert iosonde.run(NULL).messages == []
    (warning,) = iosonde.run({**NULL, "bs": "4q"}).messages
    assert 'unknown suffix "q"' in warning


def test_a_program_that_is_another_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOSONDE", "true")
    with pytest.raises(iosonde.ProgramError, match="/true wrote no result"):
        iosonde.run(NULL)


def test_the_program_may_be_named_relative_to_here_whatever_cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").symlink_to(iosonde.program())
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IOSONDE", "./mine")
    assert iosonde.run(NULL, cwd="folder").jobs[0].read.ios == 4096
    with pytest.raises(iosonde.ProgramError, match="no-folder"):
        iosonde.run(NULL, cwd="no-folder")


def test_a_text_that_is_no_result_is_refused_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    of_old = '{"fio version": "fio-2.2.10", "jobs": []}'
    with pytest.raises(iosonde.ResultError, match="fio-2.2.10"):
        iosonde.loads(of_old)
    parts = [f'{{"fio version": "fio-3.33", "jobs": {jobs}}}' for jobs in ("[1]", '[{"error": "x"}]', '[{"read": 1}]', "{}")]
    for text in ["", "[]", "{", '{"jobs": []}', "{} {}", "\xff", *parts]:
        path.write_text(text)
        with pytest.raises(iosonde.ResultError, match="other.json: not a result"):
            iosonde.load(path)


def test_a_job_without_a_name_is_refused() -> None:
    for job in [{"rw": "read"}, []]:
        with pytest.raises(ValueError):
            iosonde.run(job)  # type: ignore[arg-type]


def test_what_is_no_job_is_refused_with_what_a_job_is() -> None:
    for job in [["--name=a", "--rw=read"], 7, None]:
        with pytest.raises(TypeError, match="use the path of a job file, a dict of options"):
            iosonde.run(job)  # type: ignore[arg-type]


def test_a_value_that_is_none_is_refused_with_its_option() -> None:
    for value in [None, ["4k", "8k"]]:
        with pytest.raises(ValueError, match="bs: "):
            iosonde.run({**NULL, "bs": value})  # type: ignore[dict-item]


def test_progress_is_reported_and_ends_with_the_end() -> None:
    seen: List[iosonde.Live] = []
    timed = {**NULL, "size": "1g", "runtime": 2, "time_based": True, "rate_iops": 1000}
    iosonde.run(timed, progress=seen.append)
    assert seen[-1]["phase"] == "end"
    assert all("elapsed_s" in one for one in seen)


def test_what_progress_raises_ends_the_run_and_is_raised() -> None:
    calls: List[iosonde.Live] = []

    def fail(live: iosonde.Live) -> None:
        calls.append(live)
        raise RuntimeError("stop")

    # A run of an hour, unless it is ended.
    hour = {**NULL, "size": "1g", "runtime": 3600, "time_based": True, "rate_iops": 1000}
    with pytest.raises(RuntimeError, match="stop"):
        iosonde.run(hour, progress=fail)
    assert len(calls) == 1


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOSONDE", "/nowhere/iosonde")
    with pytest.raises(iosonde.ProgramError, match="/nowhere/iosonde"):
        iosonde.run(NULL)
    with pytest.raises(iosonde.ProgramError):
        iosonde.run(NULL, progress=lambda live: None)
