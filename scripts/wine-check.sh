#!/bin/bash
# Runs iosonde.exe: jobs, reports, verify, sequences, refusals, Ctrl-C. A part of cross-check.sh.
#
#   scripts/wine-check.sh RUNNER EXE NATIVE
#
# RUNNER starts a program of Windows (Wine). Sequences and images are compared with those of NATIVE, an iosonde of this
# system, which the tests compare with fio, and with those recorded from fio.
set -uo pipefail

HERE=$(realpath "$(dirname "$0")") RUNNER=$1 EXE=$(realpath "$2") NATIVE=$(realpath "$3")
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 2
failed=0 checked=0

run() { timeout 120 "$RUNNER" "$EXE" "$@" 2> messages | tr -d '\r'; }
check() { # words, what is to succeed
	checked=$((checked + 1))
	"${@:2}" || { echo "wine-check: failed: $1"; sed 's/^/    /' messages | head -5; failed=1; }
}
field() { # file, expression of Python with the document as d
	python3 -c "import json,sys; d=json.load(open(sys.argv[1])); sys.exit(0 if ($2) else 1)" "$1"
}

# Job files, drive letters, verify with the completion port.
cat > verify.fio <<'JOB'
[global]
size=2m
bs=4k
filename=C\:\iosonde-check.bin
[w]
rw=randwrite
verify=crc32c
ioengine=windowsaio
iodepth=8
direct=1
JOB
run verify.fio --output-format=json --output=verify.json > /dev/null
check "a job file with verify on a drive letter" \
	field verify.json "d['jobs'][0]['error'] == 0 and d['jobs'][0]['read']['total_ios'] == 512"

# Engines and reports.
for engine in sync psync windowsaio mmap null sim cpuio; do
	more=; [ $engine = cpuio ] && more="--cpuload=50 --time_based --runtime=1"
	# shellcheck disable=SC2086
	run --name=e --filename=e.bin --size=1m --rw=randrw --bs=4k --ioengine=$engine $more --output-format=json > e.json
	check "ioengine=$engine" field e.json "d['jobs'][0]['error'] == 0"
done
for format in normal terse json json+ csv markdown; do
	run --name=f --filename=f.bin --size=1m --rw=read --output-format=$format > "out.$format"
	check "--output-format=$format" test -s "out.$format"
done
run --name=h --filename=f.bin --size=1m --rw=read --html=page.html > /dev/null
check "--html" grep -q "</html>" page.html
run --name=t --filename=f.bin --size=1m --rw=randread --rate_iops=1000 --time_based --runtime=1 --output-format=json > rate.json
check "rate_iops" field rate.json "0 < d['jobs'][0]['read']['total_ios'] <= 1200"
run --name=l --filename=f.bin --size=1m --rw=read --bs=4k --write_lat_log=l > /dev/null
check "logs" test -s l_lat.1.log
run --name=r --filename=f.bin --size=1m --rw=randread --bs=4k --write_iolog=r.log > /dev/null
run --name=r --read_iolog=r.log --output-format=json > replay.json
check "replay" field replay.json "d['jobs'][0]['read']['total_ios'] == 256"

# The same offsets for the same seed.
offsets() { tr -d '\r' < "$1" | grep -E ' (read|write) ' | sed -E 's/^[0-9]+ //'; }
for job in "randread --randseed=7" "randrw --rwmixread=70" "randwrite --norandommap --bssplit=4k/50:8k" \
	"randread --random_distribution=zipf:1.2"; do
	sequence="--name=s --filename=s.bin --size=2m --bs=4k --ioengine=sync --rw=$job"
	# shellcheck disable=SC2086
	run $sequence --write_iolog=ours.log > /dev/null
	rm -f s.bin
	# shellcheck disable=SC2086
	"$NATIVE" $sequence --write_iolog=native.log > /dev/null 2>&1
	offsets ours.log > ours.txt
	offsets native.log > native.txt
	check "the sequence of rw=$job" test -s native.txt
	check "the sequence of rw=$job" cmp -s ours.txt native.txt
done

# And as recorded from fio.
recorded=$HERE/../crates/workload/vectors/fio-3.42.json
check "the sequences recorded from fio" sh -c "python3 '$HERE/wine-sequences.py' '$RUNNER' '$EXE' '$recorded' 2> messages"

# What one wrote the other verifies.
image="--name=v --filename=v.bin --size=1m --bs=4k --rw=write --verify=crc32c"
# shellcheck disable=SC2086
"$NATIVE" $image --do_verify=0 > /dev/null 2>&1
# shellcheck disable=SC2086
run $image --verify_only > report.txt
check "verify of what was written on Linux" test $? = 0
rm -f v.bin
# shellcheck disable=SC2086
run $image --do_verify=0 > /dev/null
# shellcheck disable=SC2086
check "verify on Linux of what was written here" sh -c "'$NATIVE' $image --verify_only > report.txt 2> messages"

# Damage is found.
run --name=v --filename=v.bin --size=1m --bs=4k --rw=write --verify=crc32c --do_verify=0 > /dev/null
printf X | dd of=v.bin bs=1 seek=50000 conv=notrunc status=none
run --name=v --filename=v.bin --size=1m --bs=4k --rw=write --verify=crc32c --verify_only > /dev/null
check "a changed byte is found" test $? != 0

# Refusals: nothing is written to a disk.
run --name=d "--filename=\\\\.\\PhysicalDrive0" --rw=write --size=1m > /dev/null
check "writes to a physical drive are refused" grep -q "what it holds cannot be read" messages
run --name=x --filename=f.bin --size=1m --rw=read --ioengine=libaio > /dev/null
check "an engine of Linux is refused" grep -q "engine of Linux" messages
run --name=x --ioengine=net --hostname=localhost --port=1 --rw=write --size=1m > /dev/null
check "net is refused in one line" test "$(grep -c . messages)" = 1
run meta . > /dev/null
check "meta is refused in one line" test "$(grep -c 'engine of Linux' messages)" = 1
run --server > /dev/null
check "--server is refused" grep -q "Linux, macOS and FreeBSD" messages

# Commands.
run --name=c --filename=f.bin --size=1m --rw=randread --bs=4k --output-format=json --output=a.json > /dev/null
run --name=c --filename=f.bin --size=1m --rw=randread --bs=4k --output-format=json --output=b.json > /dev/null
run compare a.json b.json > out.txt
check "compare" grep -q "read IOPS" out.txt
run sweep --over bs=4k,16k --name=c --filename=f.bin --size=1m --rw=randread > out.txt
check "sweep" grep -q "16k" out.txt
run plot a.json > /dev/null
check "plot" grep -q "</html>" plot.html
run explain --name=c --filename=f.bin --size=1m --rw=randread > out.txt
check "explain" grep -q "1 job in 1 wave" out.txt
run probe . > out.txt
check "probe" grep -q "an engine of Linux" out.txt
run cache f.bin > out.txt
check "cache" grep -q "f.bin" out.txt
run matrix m.bin --bs=4k --modes=buffered,fsync --size=1m --time-per-cell=100ms --format=csv > out.txt
check "matrix" grep -q -i "fsync" out.txt
run sbk -class file -writers 1 -size 100 -seconds 2 -file sbk.bin > out.txt
check "sbk writes" grep -q "Total File Writing.* records/sec" out.txt
run sbk -class file -readers 1 -size 100 -seconds 2 -file sbk.bin > out.txt
check "sbk reads" grep -q "Total File Reading.* records/sec" out.txt

# A server on this system, the client on Windows.
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > secret)
port=$((12000 + RANDOM % 20000))
"$NATIVE" --server=127.0.0.1,$port --secret-file=secret > server.log 2>&1 &
server=$!
for _ in $(seq 100); do grep -q listening server.log && break; sleep 0.1; done
printf '[c]\nioengine=null\nrw=read\nsize=1m\n' > client.fio
run --client=127.0.0.1,$port --secret-file=secret client.fio > out.txt
check "--client" grep -q "all hosts ran together" out.txt
kill $server

# Ctrl-C: the result so far is kept. The second ends it at once.
if x86_64-w64-mingw32-gcc -municode -O2 "$HERE/wine-ctrl-c.c" -o ctrl-c.exe; then
	endless="--name=k --filename=f.bin --size=1m --rw=randread --bs=4k --time_based --runtime=100"
	# shellcheck disable=SC2086
	timeout 120 "$RUNNER" ctrl-c.exe 5000 1 "$EXE" $endless --output-format=json --output=stopped.json > /dev/null 2> messages
	check "Ctrl-C ends a run with exit code 128" test $? = 128
	check "Ctrl-C keeps the result" field stopped.json "d['jobs'][0]['read']['total_ios'] > 0"
	check "and says so" field stopped.json "'Ctrl-C' in json.dumps(d)"
fi

echo "wine-check: $checked checks"
exit $failed
