"""Starts the program, follows the run, and reads its result."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ._errors import JobError, ProgramError, ResultError
from ._result import Result, loads

Live = Dict[str, Any]
"""An object of ``--live=json``, one each second; docs/live.md describes its keys."""

Value = Union[str, int, float, bool]
Options = Mapping[str, Value]
JobFile = Union[str, "os.PathLike[str]"]


def program() -> str:
    """The path of the program: the one that IOSONDE names, that this package installed, or in PATH."""
    named = os.environ.get("IOSONDE")
    if named:
        # Absolute: the run may have another directory.
        return os.path.abspath(shutil.which(named) or named)
    beside = Path(sys.executable).parent / "iosonde"
    if beside.is_file():
        return str(beside)
    found = shutil.which("iosonde")
    if found is None:
        raise ProgramError("there is no program iosonde: neither next to this Python nor in PATH; IOSONDE may name it")
    return found


def run(
    job: Union[JobFile, Options, Sequence[Options]],
    *,
    cwd: Optional[JobFile] = None,
    progress: Optional[Callable[[Live], None]] = None,
    arguments: Sequence[str] = (),
) -> Result:
    """Run a job file, the options of one job, or those of several jobs, and return the result.

    Options have fio's names; one of them is ``name``. ``True`` is 1, ``False`` 0. Files of jobs are made in ``cwd``.
    ``arguments`` are passed on, before the job. ``progress`` is called once a second, in a thread of its own, and a last
    time with ``phase`` ``end``; what it raises ends the run, and is raised here.

    Raises :class:`JobError` with the words of the program if it refuses the job or the run fails, and
    :class:`ProgramError` if it cannot be started. An exception here, as KeyboardInterrupt, ends the run.
    """
    words = _words(job)
    with tempfile.TemporaryDirectory(prefix="iosonde-") as folder:
        output = Path(folder, "result.json")
        command = [program(), "--output-format=json", f"--output={output}", *arguments]
        read_end = write_end = -1
        if progress is not None:
            read_end, write_end = os.pipe()
            command += ["--live=json", f"--live-file=/dev/fd/{write_end}"]
        command += words
        watcher = _Watcher(read_end, progress) if progress is not None else None
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[write_end] if watcher else [],
            )
        except OSError as error:
            if watcher:
                os.close(read_end)
            # Popen names the program or the folder.
            raise ProgramError(f"cannot start {command[0]}: {error.strerror}: {error.filename}") from error
        finally:
            # The reader's end is the only other one: it ends when the program has.
            if watcher:
                os.close(write_end)
        if watcher:
            watcher.start(process)
        try:
            _, errors = process.communicate()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        if watcher:
            watcher.finish()
        return _finished(command[0], process.returncode, errors.decode(errors="replace").strip(), output)


class _Watcher:
    """Reads the objects of a run, and hands them over."""

    def __init__(self, read_end: int, progress: Callable[[Live], None]) -> None:
        self._read_end = read_end
        self._progress = progress
        self._raised: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._thread.start()

    def finish(self) -> None:
        self._thread.join()
        if self._raised is not None:
            raise self._raised

    def _watch(self) -> None:
        with os.fdopen(self._read_end, encoding="utf-8") as lines:
            for line in lines:
                if self._raised is not None:
                    continue
                try:
                    self._progress(json.loads(line))
                except BaseException as error:  # handed to the caller of run()
                    self._raised = error
                    self._process.terminate()


def _finished(program: str, code: int, errors: str, output: Path) -> Result:
    text = output.read_text(encoding="utf-8") if output.exists() else ""
    try:
        result = loads(text)
    except ResultError:
        if code == 0:
            raise ProgramError(f"{program} wrote no result: it is not iosonde, or arguments= asks for something else") from None
        raise JobError(errors or _ended(code), code) from None
    if code != 0:
        raise JobError(errors or _ended(code), code, result)
    return result


def _ended(code: int) -> str:
    return f"iosonde ended with exit code {code}" if code >= 0 else f"iosonde was ended by signal {-code}"


_JOBS = (
    "use the path of a job file, a dict of options such as {'name': 'a', 'rw': 'read', 'size': '1m'}, or a list of such dicts; "
    "flags of the program go to arguments="
)


def _words(job: Union[JobFile, Options, Sequence[Options]]) -> List[str]:
    """The job as arguments of the program."""
    if isinstance(job, (str, os.PathLike)):
        return [os.path.abspath(job)]
    jobs = [job] if isinstance(job, Mapping) else job
    if not isinstance(jobs, (list, tuple)):
        raise TypeError(f"job: {job!r}: {_JOBS}")
    words: List[str] = []
    for options in jobs:
        if not isinstance(options, Mapping):
            raise TypeError(f"job: {options!r} is not the options of a job: {_JOBS}")
        if "name" not in options:
            raise ValueError('a job needs a "name"')
        words.append(f"--name={_text('name', options['name'])}")
        words += [f"--{key}={_text(key, value)}" for key, value in options.items() if key != "name"]
    if not words:
        raise ValueError("there is no job")
    return words


def _text(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    # A None or a list would reach the program as a word that it takes for a value.
    if not isinstance(value, (str, int, float)):
        raise ValueError(f"{name}: {value!r} is no value of an option: use a str, int, float or bool")
    return str(value)
