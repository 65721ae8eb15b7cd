#!/usr/bin/env python3
"""Makes a wheel of the program and the Python module:  scripts/dist-wheel.py PROGRAM NOTICES VERSION PLATFORM FOLDER

A wheel is a zip file with the module, the program under NAME.data/scripts, and three files that describe it
(https://packaging.python.org/en/latest/specifications/binary-distribution-format/). Nothing is compiled, so it takes
no build backend."""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The same bytes give the same wheel: zip has no times before 1980.
TIME = (1980, 1, 1, 0, 0, 0)


def metadata(version: str) -> str:
    return f"""Metadata-Version: 2.1
Name: iosonde
Version: {version}
Summary: Storage I/O tester, a drop-in for fio, with a typed module to run it and read its results
License: MIT OR Apache-2.0
Requires-Python: >=3.8
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: System :: Benchmark
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{(ROOT / "python/README.md").read_text()}"""


def main() -> None:
    program, notices, version, platform, folder = sys.argv[1:]
    info, data = f"iosonde-{version}.dist-info", f"iosonde-{version}.data"
    files = {f"iosonde/{path.name}": path.read_bytes() for path in sorted((ROOT / "python/iosonde").iterdir()) if path.is_file()}
    files[f"{data}/scripts/iosonde"] = Path(program).read_bytes()
    for licence in [ROOT / "LICENSE-MIT", ROOT / "LICENSE-APACHE", Path(notices)]:
        files[f"{info}/licenses/{licence.name}"] = licence.read_bytes()
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: iosonde\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n".encode()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(Path(folder, f"iosonde-{version}-py3-none-{platform}.whl"), "w") as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)


main()
