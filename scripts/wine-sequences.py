#!/usr/bin/env python3
"""The I/Os of iosonde.exe, as fio, beside those recorded from fio 3.42. A part of wine-check.sh.

wine-sequences.py RUNNER EXE VECTORS [COUNT]: runs the first COUNT jobs of VECTORS (all), prints those that differ.
"""
import itertools, json, os, subprocess, sys, tempfile

ALWAYS = ["--name=v", "--group_reporting", "--write_iolog=v.log", "--randrepeat=1"]


def entry(line):
    """Of a sync only the file and the action count."""
    return line.split(" ")[:2] if "sync" in line else line


def differs(runner, exe, job):
    with tempfile.TemporaryDirectory() as folder:
        command = [runner, exe, "fio", *ALWAYS, *job["arguments"]]
        ran = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        log = os.path.join(folder, "v.log")
        lines = open(log).read().splitlines()[1:] if os.path.exists(log) else []
    ours = [entry(line.split(" ", 1)[1]) for line in lines if line.count(" ") > 2]
    recorded = [entry(line) for line in job["ios"]]
    return None if ran.returncode == 0 and ours == recorded else ran.stderr or f"{len(ours)} of {len(recorded)} I/Os"


runner, exe, vectors = sys.argv[1:4]
count = int(sys.argv[4]) if len(sys.argv) > 4 else None
jobs = json.load(open(vectors)).items()
found = {name: differs(runner, exe, job) for name, job in itertools.islice(jobs, count)}
wrong = [f"{name}: {why}" for name, why in found.items() if why]
print("\n".join(wrong), file=sys.stderr)
sys.exit(1 if wrong or not found else 0)
