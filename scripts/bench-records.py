#!/usr/bin/env python3
"""The cost of a record: `iosonde sbk`, a bare loop of writes with two clock
readings each, fio's psync, and SBK itself (in Java) where it is installed or
named by SBK, alternately, on tmpfs. Processor time is what counts: of several
rounds the least, as noise only adds.

    scripts/bench-records.py [ROUNDS] [RECORDS]
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IOSONDE = f"{ROOT}/target/release/iosonde"
BARE = f"{ROOT}/target/release/examples/bare"
BYTES = 100


def measured(command, folder):
    """Processor seconds, and the most memory, in KiB, of the program itself."""
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    most = 0
    while True:
        # Not ru_maxrss, which begins with this interpreter's own.
        try:
            with open(f"/proc/{child.pid}/status") as status:
                for line in status:
                    if line.startswith("VmHWM:"):
                        most = max(most, int(line.split()[1]))
        except OSError:
            pass
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        time.sleep(0.005)
    said = child.stderr.read().decode(errors="replace")
    if status != 0:
        sys.exit(f"{' '.join(command)}: exit {status}\n{said}")
    return used.ru_utime + used.ru_stime, most


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    records = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000
    folder = tempfile.mkdtemp(prefix="iosonde-bench-", dir="/dev/shm")
    common = [IOSONDE, "sbk", "-class", "file", "-file", "sbk", "-size", str(BYTES), "-time", "ns"]
    commands = {
        "bare loop": [BARE, "bare", str(records), str(BYTES)],
        "iosonde sbk": common + ["-writers", "1", "-records", str(records)],
    }
    if shutil.which("fio"):
        commands["fio psync"] = ["fio", "--name=w", "--filename=fio", "--ioengine=psync", "--thread",
                                 "--rw=write", f"--bs={BYTES}", f"--size={records * BYTES}",
                                 "--fallocate=none", "--end_fsync=1"]
    sbk = os.environ.get("SBK") or shutil.which("sbk")
    if sbk:
        commands["SBK"] = [sbk] + common[2:] + ["-writers", "1", "-records", str(records)]
    commands["iosonde sbk, reading"] = common + ["-readers", "1", "-records", str(records)]
    best, memory = {}, {}
    try:
        for _ in range(rounds):
            for name, command in commands.items():
                seconds, kib = measured(command, folder)
                best[name] = min(seconds, best.get(name, seconds))
                memory[name] = max(kib, memory.get(name, 0))
            for name in ("bare", "sbk", "fio"):
                if os.path.exists(f"{folder}/{name}"):
                    os.remove(f"{folder}/{name}")
        start = min(measured(common + ["-writers", "1", "-records", "1"], folder)[0] for _ in range(rounds * 4))
    finally:
        shutil.rmtree(folder)
    print(f"{records} records of {BYTES} bytes on tmpfs, best of {rounds} rounds")
    print(f"{'':24}{'us a record':>12}{'to bare':>13}{'memory':>12}")
    for name, seconds in best.items():
        ratio = f"{seconds / best['bare loop']:.2f}x" if "reading" not in name else ""
        print(f"{name:24}{seconds / records * 1e6:12.3f}{ratio:>13}{memory[name] / 1024:8.1f} MiB")
    if not sbk:
        print("SBK: not installed (set SBK to its program)")
    print(f"start and end of a run of one record: {start * 1e3:.1f} ms of processor time")


main()
