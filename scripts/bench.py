#!/usr/bin/env python3
"""What an I/O costs in iosonde, next to the fio that is installed.

Each timed case runs both programs alternately, round by round; the ratio is
taken within a round and its median and range are printed, so that a machine
that is busy slows both. Engines of the kernel are run beside the bare
interface too: a loop that makes the same calls and does nothing else
(crates/engine/benches/bare.rs), which is as far as any tester can come; and
io_uring beside the t/io_uring that the environment variable T_IO_URING names,
if it does. CPU is user + system time of the job itself, as each program reports
it in its JSON. Instructions are user-mode instructions for one
I/O, from callgrind: the difference of a run of 5N and one of N I/Os.

    scripts/bench.py [--rounds N] [--only WORD] [--no-callgrind] [--no-timed] [--no-bare]
"""

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, ".."))
OURS = [os.path.join(ROOT, "target", "release", "iosonde"), "fio"]
# The same source for processors of 2013 and later: what the budgets are for.
OURS_V3 = [os.path.join(ROOT, "target", "v3", "release", "iosonde"), "fio"]
FIO = shutil.which("fio")


def run(program, arguments, cwd):
    command = program + ["--name=a", "--thread", "--output-format=json", "--eta=never"] + arguments
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    whole_cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    document = json.loads(done.stdout[done.stdout.index("{"):])
    job = document["jobs"][0]
    ios = sum(job[way]["total_ios"] for way in ("read", "write", "trim"))
    seconds = job["job_runtime"] / 1000
    return {
        "iops": sum(job[way]["iops"] for way in ("read", "write", "trim")),
        "cpu_ns": (job["usr_cpu"] + job["sys_cpu"]) / 100 * seconds * 1e9 / max(ios, 1),
        "wall": wall,
        "whole_cpu": whole_cpu,
    }


def spread(values, form="{:.2f}"):
    values = sorted(values)
    return " ".join([form.format(statistics.median(values)), "[" + form.format(values[0]) + "-" + form.format(values[-1]) + "]"])


def bare_program():
    """Build the bare loops; where they are."""
    command = ["cargo", "bench", "--locked", "--quiet", "-p", "iosonde-engine", "--bench", "bare", "--no-run", "--message-format=json"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [json.loads(line) for line in built.splitlines() if line.startswith("{")]
    return next(line["executable"] for line in lines if line.get("target", {}).get("name") == "bare" and line.get("executable"))


def t_io_uring(path):
    """IOPS of t/io_uring on a buffered file at depth 128 in batches of 32, with
    registered files and buffers and no statistics: the best second of two."""
    command = [os.environ["T_IO_URING"], "-O0", "-p0", "-d128", "-s32", "-c32", "-r2", path]
    done = subprocess.run(command, capture_output=True, text=True)
    return iops_of(done.stdout)


def iops_of(output):
    """The rate that t/io_uring prints last: `Maximum IOPS=1.21M`, or, without
    that, the best of its lines `IOPS=1.20M, BW=4.7GiB/s, IOS/call=32/31`."""
    scale = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}
    found = re.findall(r"IOPS=([0-9.]+)([KMG]?)", output)
    if not found:
        raise SystemExit(f"no IOPS= in what {os.environ.get('T_IO_URING')} printed:\n{output}")
    return max(float(number) * scale[unit] for number, unit in found)


def paired(title, reach, arguments, rounds, cwd, metric, prepare=None, bare=None):
    ours, theirs, ratios, floors, others = [], [], [], [], []
    for _ in range(rounds):
        for program, results in (([FIO], theirs), (OURS, ours)):
            if prepare:
                prepare()
            results.append(run(program, arguments, cwd)[metric])
        if bare:
            floor = json.loads(subprocess.run(bare, capture_output=True, text=True, check=True).stdout)[metric]
            floors.append(floor / theirs[-1] if metric == "iops" else theirs[-1] / floor)
        if "io_uring" in title and bare and os.environ.get("T_IO_URING"):
            others.append(ours[-1] / t_io_uring(bare[1]))
        ratios.append(ours[-1] / theirs[-1] if metric == "iops" else theirs[-1] / max(ours[-1], 1e-9))
    form = "{:,.0f}" if metric == "iops" else "{:.1f}" if metric == "cpu_ns" else "{:.3f}"
    print(f"{title:<44} {reach:<10} ratio {spread(ratios):<20} ours {spread(ours, form)}  fio {spread(theirs, form)}  ({metric})" + (f"  bare {spread(floors)}" if bare else "")
          + (f"  against t/io_uring {spread(others)}" if others else ""), flush=True)


def instructions(program, arguments, n, cwd):
    counts = []
    for ios in (n, 5 * n):
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] + program + [
            "--name=a", "--thread", "--eta=never", "--output=/dev/null", "--clocksource=cpu", f"--number_ios={ios}"] + arguments
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode != 0 or not found:
            raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        counts.append(int(found.group(1)))
    return (counts[1] - counts[0]) / (4 * n)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-callgrind", action="store_true")
    parser.add_argument("--no-timed", action="store_true")
    parser.add_argument("--no-bare", action="store_true")
    options = parser.parse_args()
    if not FIO:
        raise SystemExit("fio is not installed: there is nothing to compare with (apt-get install fio)")
    wanted = lambda title: options.only in title

    null = ["--ioengine=null", "--rw=randread", "--bs=4k", "--size=100g"]
    batch = ["--iodepth=32", "--iodepth_batch=32", "--iodepth_batch_complete_max=32"]
    ring = ["--iodepth=128", "--iodepth_batch=32", "--iodepth_batch_complete_min=32", "--iodepth_batch_complete_max=32", "--fixedbufs=1", "--registerfiles=1"]
    psync = ["--ioengine=psync", "--rw=randwrite", "--bs=4k", "--size=4m", "--io_size=4g", "--norandommap"]
    counted = [
        ("null depth 1", "<= 130", null + ["--norandommap"]),
        ("null depth 1, map over 100 GiB", "<= 170", null),
        ("null depth 32, batch 32", "<= 90", null + ["--norandommap"] + batch),
        ("null depth 1, gtod_reduce", "<= 60", null + ["--norandommap", "--gtod_reduce=1"]),
        ("null depth 1, sequential", "", ["--ioengine=null", "--rw=read", "--bs=4k", "--size=100g"]),
        ("null depth 1, randrw 70/30", "", null + ["--rw=randrw", "--rwmixread=70", "--norandommap"]),
        ("null depth 1, bssplit", "plain + 60", null + ["--norandommap", "--bssplit=4k/60:8k/40"]),
        ("null depth 1, a rate never reached", "plain + 60", null + ["--norandommap", "--rate_iops=1000000000"]),
        ("null depth 1, the same by poisson", "plain + 120", null + ["--norandommap", "--rate_iops=1000000000", "--rate_process=poisson"]),
        ("null depth 1, lfsr", "<= 200", null + ["--random_generator=lfsr"]),
        ("null depth 1, rw in order", "<= 200", ["--ioengine=null", "--rw=rw", "--bs=4k", "--size=100g"]),
        ("null depth 1, runs of 8", "<= 200", null + ["--rw=randread:8"]),
        ("null depth 1, 8 files in turn", "<= 200", null + ["--nrfiles=8"]),
        ("null depth 1, 8 files by zipf", "<= 200", null + ["--nrfiles=8", "--file_service_type=zipf:1.2"]),
        ("null depth 1, bssplit with a map", "<= 200", null + ["--bssplit=4k/60:8k/30:64k/10"]),
        ("null depth 1, zoned", "<= 200", null + ["--random_distribution=zoned:60/10:30/20:8/30:2/40"]),
        ("null depth 1, normal", "<= 200", null + ["--random_distribution=normal:20"]),
        ("null depth 1, strided", "<= 200", null + ["--zonemode=strided", "--zonesize=256m", "--zonerange=256m"]),
        ("null depth 1, writes with fsync=32", "<= 200", null + ["--rw=randwrite", "--fsync=32"]),
        ("psync, refill_buffers", "", psync + ["--refill_buffers"]),
        ("psync, verify=crc32c, written", "", psync + ["--verify=crc32c", "--do_verify=0"]),
        ("null depth 1, a log line for each", "", null + ["--norandommap", "--write_lat_log=log"]),
        ("null depth 1, write_iolog", "", null + ["--norandommap", "--write_iolog=iolog"]),
        ("io_uring 128/32, registered", "<= 150", ["--ioengine=io_uring", "--rw=randread", "--bs=4k", "--filename=ring", "--size=16m", "--io_size=4g", "--norandommap", "--invalidate=0"] + ring),
        ("null depth 32, batch 1", "", null + ["--norandommap", "--iodepth=32"]),
        ("null depth 32, batch 1, a rate", "+ 70", null + ["--norandommap", "--iodepth=32", "--rate_iops=1000000000"]),
    ]
    print(f"# {os.uname().release}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {subprocess.run([FIO, '--version'], capture_output=True, text=True).stdout.strip()}, {options.rounds} rounds")
    # Where git does not look, also when this is killed.
    with tempfile.TemporaryDirectory(dir=os.path.join(ROOT, "target")) as disk, tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        if not options.no_callgrind and shutil.which("valgrind"):
            # There before, or the first run of each would lay it out.
            with open(os.path.join(disk, "ring"), "wb") as file:
                file.write(os.urandom(16 << 20))
            print("# user instructions for one I/O (callgrind); built for x86-64-v3, as the budget is, and as delivered")
            for title, reach, arguments in counted:
                if wanted(title):
                    v3 = f"v3 {instructions(OURS_V3, arguments, 100_000, disk):8.1f}   " if os.path.exists(OURS_V3[0]) else ""
                    ours = instructions(OURS, arguments, 100_000, disk)
                    theirs = instructions([FIO], arguments, 100_000, disk)
                    print(f"{title:<44} {reach:<10} {v3}delivered {ours:8.1f}   fio {theirs:8.1f}   {theirs / ours:.1f}x fewer", flush=True)

        if options.no_timed:
            return
        timed = ["--time_based", "--runtime=600ms"]
        print("# alternately; more than 1 is better than fio")
        cases = [
            ("null depth 1: CPU", ">= 7", null + ["--norandommap"] + timed, disk, "cpu_ns", None),
            ("null map over 100 GiB: CPU", ">= 7", null + timed, disk, "cpu_ns", None),
        ]
        bare = None if options.no_bare else bare_program()
        # The small file lies in the processor's cache, so that what differs
        # is the testers; with the large one both wait for memory.
        for mib in (16, 256):
            cached, tmpfs = (os.path.join(folder, f"file{mib}") for folder in (disk, memory))
            for path in (cached, tmpfs):
                with open(path, "wb") as file:
                    for _ in range(mib):
                        file.write(os.urandom(1 << 20))
            read = ["--rw=randread", "--bs=4k", "--norandommap", "--invalidate=0", f"--size={mib}m"] + timed
            cases += [
                (f"psync 4k of {mib} MiB cached: IOPS", ">= 1.4", ["--ioengine=psync", f"--filename={cached}"] + read, disk, "iops", ["pread", cached, "0.6", "1", "1"]),
                (f"io_uring 4k of {mib} MiB cached, 128/32: IOPS", ">= 1.4", ["--ioengine=io_uring", f"--filename={cached}"] + ring + read, disk, "iops", ["io_uring", cached, "0.6", "128", "32"]),
                (f"libaio on tmpfs, {mib} MiB, 32/1: CPU", ">= 1.5", ["--ioengine=libaio", f"--filename={tmpfs}", "--iodepth=32"] + read, disk, "cpu_ns", ["libaio", tmpfs, "0.6", "32", "1"]),
                (f"libaio on tmpfs, {mib} MiB, 32/32: CPU", ">= 1.25", ["--ioengine=libaio", f"--filename={tmpfs}"] + batch + read, disk, "cpu_ns", ["libaio", tmpfs, "0.6", "32", "32"]),
            ]
        for title, reach, arguments, cwd, metric, floor in cases:
            if wanted(title):
                prepare = (lambda: subprocess.run(["cat", floor[1]], stdout=subprocess.DEVNULL)) if floor else None
                paired(title, reach, arguments, options.rounds, cwd, metric, prepare, bare and floor and [bare] + floor)

        beyond(memory, options.rounds, wanted)

        print("# paced: of one run of 5 s each; on a quiet machine")
        paced(disk, memory, wanted, bare)

        few = max(3, options.rounds // 2)
        if wanted("10000 small files"):
            def clean():
                for name in os.listdir(disk):
                    if name.startswith("a."):
                        os.unlink(os.path.join(disk, name))
            paired("10000 small files laid out: wall", ">= 3", ["--rw=read", "--nrfiles=10000", "--size=40000k", "--create_only=1", "--openfiles=100", f"--directory={disk}"],
                   few, ".", "wall", clean)
            clean()
        if wanted("512 null jobs"):
            ours = [run(OURS, null + ["--norandommap", "--numjobs=512", "--group_reporting", "--time_based", "--runtime=1"], disk)["wall"] - 1 for _ in range(few)]
            print(f"{'512 null jobs: wall beyond the second':<44} {'< 0.3 s':<10} ours {spread(ours, '{:.3f}')}")
            print(f"{'512 null jobs: PSS':<44} {'< 64 MiB':<10} ours {pss(null + ['--norandommap', '--numjobs=512', '--group_reporting', '--time_based', '--runtime=2'], disk):.1f} MiB")
        if wanted("one I/O"):
            ours = [run(OURS, ["--ioengine=null", "--size=4k"], disk)["whole_cpu"] * 1000 for _ in range(few)]
            theirs = [run([FIO], ["--ioengine=null", "--size=4k"], disk)["whole_cpu"] * 1000 for _ in range(few)]
            print(f"{'one I/O: CPU of the whole run, ms':<44} {'< 10':<10} ours {spread(ours, '{:.1f}')}  fio {spread(theirs, '{:.1f}')}")
        if wanted("16 TiB"):
            huge = ["--ioengine=null", "--rw=randread", "--bs=4k", "--size=16t", "--number_ios=1000"]
            for title, extra in (("map", []), ("lfsr", ["--random_generator=lfsr"])):
                ours = [run(OURS, huge + extra, disk)["wall"] for _ in range(few)]
                theirs = [run([FIO], huge + extra, disk)["wall"] for _ in range(few)]
                print(f"{'16 TiB, 1000 I/Os, ' + title + ': wall, s':<44} {'':<10} ours {spread(ours, '{:.3f}')}  fio {spread(theirs, '{:.3f}')}")


def beyond(memory, rounds, wanted):
    """What fills and checksums take: CPU time of a write of 4 KiB beyond that of
    a plain one, of which nothing is filled. Above other processes where that is
    allowed: what they do to the caches would be more than the difference."""
    above = ["chrt", "-f", "1"]
    if subprocess.run(above + ["true"], capture_output=True).returncode != 0:
        above = []
    writes = ["--ioengine=psync", "--rw=randwrite", "--bs=4k", "--size=4m", "--norandommap", f"--filename={os.path.join(memory, 'beyond')}", "--time_based", "--runtime=250ms"]
    plain = ["--scramble_buffers=0"]
    for title, arguments in [
        ("refill_buffers", ["--refill_buffers"]),
        ("verify=null", ["--verify=null", "--do_verify=0"]),
        ("verify=crc32c", ["--verify=crc32c", "--do_verify=0"]),
        ("verify=sha1", ["--verify=sha1", "--do_verify=0"]),
        ("verify=sha256", ["--verify=sha256", "--do_verify=0"]),
    ]:
        title = f"beyond a write: {title}, CPU ns"
        if not wanted(title):
            continue
        took = {program[0]: [] for program in (OURS, [FIO])}
        for _ in range(rounds):
            for program in (OURS, [FIO]):
                pair = [run(above + program, writes + more, memory)["cpu_ns"] for more in (plain, arguments)]
                took[program[0]].append(pair[1] - pair[0])
        print(f"{title:<44} {'':<10} ours {spread(took[OURS[0]], '{:.0f}')}  fio {spread(took[FIO], '{:.0f}')}", flush=True)


def paced(disk, memory, wanted, bare):
    """Jobs that start 50,000 I/Os a second: how late at the 99th percentile,
    and the CPU time of the whole process over its wall time. Lateness is the
    response (from when an I/O was due) less the median service. Only on a quiet
    machine does it say anything but who else was running. Before them what no
    tester comes below here: the same moments with nothing done at them, by the
    kernel's timer and by looking at the clock all the time."""
    for title, how in (("the kernel's timer alone", "timer"), ("looking at the clock alone", "spin")):
        title = f"paced 50k: {title}"
        if bare and wanted(title):
            floor = json.loads(subprocess.run([bare, how, "50000", "5"], capture_output=True, text=True, check=True).stdout)
            print(f"{title:<44} {'this machine':<24} late p50 {floor['p50']:.1f} p99 {floor['p99']:.1f} p99.9 {floor['p99.9']:.1f} us   CPU {floor['cpu']:.0f} %", flush=True)
    cached, tmpfs = (os.path.join(folder, "paced") for folder in (disk, memory))
    for path in (cached, tmpfs):
        with open(path, "wb") as file:
            file.write(os.urandom(16 << 20))
    common = ["--rw=randread", "--bs=4k", "--norandommap", "--invalidate=0", "--size=16m", "--rate_iops=50000", "--time_based", "--runtime=5"]
    for title, arguments in [
        ("null", ["--ioengine=null"]),
        ("psync, cached", ["--ioengine=psync", f"--filename={cached}"]),
        ("psync, tmpfs", ["--ioengine=psync", f"--filename={tmpfs}"]),
        ("psync, cached, poisson", ["--ioengine=psync", f"--filename={cached}", "--rate_process=poisson"]),
        ("io_uring depth 1, cached", ["--ioengine=io_uring", f"--filename={cached}"]),
        ("io_uring depth 32, cached", ["--ioengine=io_uring", f"--filename={cached}", "--iodepth=32"]),
        ("io_uring depth 32, tmpfs", ["--ioengine=io_uring", f"--filename={tmpfs}", "--iodepth=32"]),
        ("libaio depth 32, tmpfs", ["--ioengine=libaio", f"--filename={tmpfs}", "--iodepth=32"]),
    ]:
        title = f"paced 50k: {title}"
        if not wanted(title):
            continue
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        done = subprocess.run([OURS[0], "--name=a", "--output-format=json", "--eta=never"] + common + arguments, cwd=disk, capture_output=True, text=True, check=True)
        wall = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        document = json.loads(done.stdout[done.stdout.index("{"):])
        response = document["iosonde"]["jobs"][0]["response_ns"]["read"]["percentile"]
        read = document["jobs"][0]["read"]
        service, iops = read["clat_ns"]["percentile"]["50.000000"], read["iops"]
        p50, p99, p999 = ((response[percent] - service) / 1000 for percent in ("50.000000", "99.000000", "99.900000"))
        print(f"{title:<44} {'p99 < 20 us, CPU < 50 %':<24} late p50 {p50:.1f} p99 {p99:.1f} p99.9 {p999:.1f} us   CPU {100 * cpu / wall:.0f} %   {iops:,.0f} IOPS", flush=True)


def pss(arguments, cwd):
    """Proportional set size of a running iosonde, in MiB, half way through."""
    process = subprocess.Popen(OURS + ["--name=a", "--eta=never", "--output=/dev/null"] + arguments, cwd=cwd)
    time.sleep(1.2)
    with open(f"/proc/{process.pid}/smaps_rollup") as rollup:
        kib = int(re.search(r"^Pss:\s+(\d+)", rollup.read(), re.M).group(1))
    process.wait()
    return kib / 1024


if __name__ == "__main__":
    sys.exit(main())
