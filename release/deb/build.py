"""Make dist/pathweave-linux_VERSION_amd64.deb from a compiled binary.

Example: python3 release/deb/build.py target/dist/pathweave-linux

The same binary gives the same bytes: all times are SOURCE_DATE_EPOCH, by default that of
the last commit.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from email.utils import formatdate
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAME = "pathweave-linux"
ARCHITECTURE = "amd64"
# How a program of this architecture begins: 64 bits, little-endian, and EM_X86_64 as its machine.
ELF = b"\x7fELF"
CLASS_AND_ORDER = b"\x02\x01"
EM_X86_64 = (62).to_bytes(2, "little")
APACHE = re.compile(
    r"Apache License\s+Version 2\.0, January 2004.*?END OF TERMS AND CONDITIONS", re.DOTALL
)
LICENCES = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|UNLICENSE)", re.IGNORECASE)


def output(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a command prints; ends the program where it fails, after the command's own message."""
    done = subprocess.run(  # noqa: S603 - programs of this machine
        command, cwd=cwd, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed")
    return done.stdout


def version() -> str:
    """The version of the workspace."""
    with (ROOT / "Cargo.toml").open("rb") as file:
        return str(tomllib.load(file)["workspace"]["package"]["version"])


def epoch() -> int:
    """The time of everything in the package."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or output("git", "log", "-1", "--format=%ct"))


def put(path: Path, content: bytes, mode: int = 0o644) -> None:
    """A file of the package; `.gz` is compressed, without a time of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, 9, mtime=0) if path.suffix == ".gz" else content)
    path.chmod(mode)


def refuse_other_programs(binary: Path, content: bytes) -> None:
    """End the program unless this is one for ARCHITECTURE."""
    if not content.startswith(ELF):
        raise SystemExit(f"{binary} is not an ELF program; release/deb/compile.sh compiles one")
    if content[4:6] != CLASS_AND_ORDER or content[18:20] != EM_X86_64:
        raise SystemExit(
            f"{binary} is compiled for another machine than x86-64, and the package is for"
            f" {ARCHITECTURE} alone; release/deb/compile.sh on x86-64 compiles the right one"
        )


def refuse_other_hosts() -> None:
    """End the program unless dpkg, which knows the binary's libraries, is of ARCHITECTURE."""
    host = output("dpkg", "--print-architecture").strip()
    if host != ARCHITECTURE:
        raise SystemExit(
            f"dpkg of this machine is for {host} and does not know the libraries of"
            f" {ARCHITECTURE}; make the package on Debian for {ARCHITECTURE}"
        )


def depends(binary: Path) -> str:
    """The packages of the libraries that the binary is linked to, with the versions it needs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        put(
            place / "debian/control",
            f"Source: {NAME}\n\nPackage: {NAME}\nArchitecture: any\n".encode(),
        )
        text = output("dpkg-shlibdeps", "-O", f"-e{binary}", cwd=place)
    found = text.strip().removeprefix("shlibs:Depends=")
    # Debian 13 has libelf under another name.
    return re.sub(r"libelf1(t64)? (\([^)]*\))", r"libelf1t64 \2 | libelf1 \2", found)


def copyright_text() -> str:
    """The licences of everything that is in the binary, each text once."""
    target = output("rustc", "-vV").split("host: ")[1].split()[0]
    selection = ("--package", NAME, "--edges", "normal", "--target", target)
    lines = output("cargo", "tree", "--locked", *selection, "--prefix", "none", "--format", "{p}")
    names = {tuple(line.split()[:2]) for line in lines.splitlines() if "(proc-macro)" not in line}
    metadata = json.loads(output("cargo", "metadata", "--locked", "--format-version", "1"))
    texts: dict[str, list[str]] = {}
    stated: list[str] = []
    for package in sorted(metadata["packages"], key=lambda one: (one["name"], one["version"])):
        if (package["name"], f"v{package['version']}") not in names or package["source"] is None:
            continue
        label = f"{package['name']} {package['version']}"
        stated.append(f"  {label}: {package['license']}")
        folder = Path(package["manifest_path"]).parent
        for file in sorted([*folder.iterdir(), *folder.glob("libbpf/LICENSE.*")]):
            if file.is_file() and LICENCES.match(file.name):
                text = file.read_text(encoding="utf-8", errors="replace").strip()
                labels = texts.setdefault(text, [])
                if label not in labels:
                    labels.append(label)
    parts = [
        "Pathweave: Copyright the Pathweave developers.\n\n"
        "Licensed under the Apache License, Version 2.0; the text is in\n"
        "/usr/share/common-licenses/Apache-2.0. The eBPF programs in it may also be used under\n"
        "BSD-2-Clause or the GNU General Public License, version 2, whose text is in\n"
        "/usr/share/common-licenses/GPL-2.\n\n"
        "Compiled into the program are:\n\n" + "\n".join(stated) + "\n\nTheir licences:"
    ]
    for full, labels in texts.items():
        text = APACHE.sub(
            "(Apache License, Version 2.0: /usr/share/common-licenses/Apache-2.0)", full
        )
        parts.append("-" * 72 + "\n" + "\n".join(labels) + "\n\n" + text)
    return "\n\n".join(parts) + "\n"


def changelog(wanted: str, when: int) -> str:
    """Debian's changelog: one entry, which points to the project's own."""
    return (
        f"{NAME} ({wanted}) unstable; urgency=medium\n\n"
        f"  * Version {wanted}. CHANGELOG.md.gz beside this file says what is new.\n\n"
        f" -- {maintainer()}  {formatdate(when)}\n"
    )


def maintainer() -> str:
    """As control has it."""
    found = re.search(r"^Maintainer: (.*)$", (HERE / "control").read_text(), re.MULTILINE)
    if found is None:
        raise ValueError("release/deb/control has no Maintainer")
    return found[1]


def fill(stage: Path, binary: Path, when: int) -> None:
    """Everything that the package installs, and how."""
    documents = stage / "usr/share/doc" / NAME
    put(stage / "usr/bin" / NAME, binary.read_bytes(), 0o755)
    # /lib is a link to /usr/lib on Debian 12 and newer.
    unit = output(binary, "unit", "--program", f"/usr/bin/{NAME}")
    put(stage / "usr/lib/systemd/system/pathweave@.service", unit.encode())
    with tempfile.TemporaryDirectory() as pages:
        output(binary, "manual", pages)
        for page in sorted(Path(pages).iterdir()):
            put(stage / "usr/share/man/man1" / f"{page.name}.gz", page.read_bytes())
    put(documents / "copyright", copyright_text().encode())
    put(documents / "changelog.gz", changelog(version(), when).encode())
    put(documents / "CHANGELOG.md.gz", (ROOT / "CHANGELOG.md").read_bytes())
    put(documents / "administrators.md.gz", (ROOT / "docs/administrators.md").read_bytes())
    for example in (
        HERE / "90-pathweave.conf",
        HERE / "pathweave-xmp",
        ROOT / "crates/linux/dashboard/grafana.json",
    ):
        put(documents / "examples" / example.name, example.read_bytes())
    files = sorted(path for path in stage.rglob("*") if path.is_file())
    size = sum((path.stat().st_size + 1023) // 1024 for path in files)
    control = (HERE / "control").read_text()
    values = {
        "VERSION": version(),
        "ARCHITECTURE": ARCHITECTURE,
        "SIZE": str(size),
        "DEPENDS": depends(binary),
    }
    for key, value in values.items():
        control = control.replace(f"@{key}@", value)
    put(stage / "DEBIAN/control", control.encode())
    sums = (
        f"{hashlib.md5(data, usedforsecurity=False).hexdigest()}  {path.relative_to(stage)}\n"
        for path in files
        for data in [path.read_bytes()]
    )
    put(stage / "DEBIAN/md5sums", "".join(sums).encode())
    for script in ("postinst", "prerm", "postrm"):
        put(stage / "DEBIAN" / script, (HERE / script).read_bytes(), 0o755)
    # dpkg takes over the modes of all folders, and the caller's umask may have kept others out.
    for path in (stage, *stage.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
        os.utime(path, (when, when))


def main() -> None:
    """Build it, and say where it is."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        raise SystemExit("usage: build.py BINARY, for example target/dist/pathweave-linux")
    binary = Path(sys.argv[1]).resolve()
    refuse_other_programs(binary, binary.read_bytes())
    for tool in ("dpkg-deb", "dpkg-shlibdeps"):
        if shutil.which(tool) is None:
            raise SystemExit(f"missing: {tool} (Debian: apt install dpkg-dev)")
    refuse_other_hosts()
    when = epoch()
    os.environ["SOURCE_DATE_EPOCH"] = str(when)
    distribution = ROOT / "dist"
    distribution.mkdir(exist_ok=True)
    # One of another version is not of this release.
    for old in distribution.glob(f"{NAME}_*.deb"):
        old.unlink()
    package = distribution / f"{NAME}_{version()}_{ARCHITECTURE}.deb"
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder) / NAME
        fill(stage, binary, when)
        # dpkg of Debian 12 reads xz; the newer default is read by it, too, but not by older tools.
        output("dpkg-deb", "--root-owner-group", "-Zxz", "--build", stage, package)
    print(package.relative_to(ROOT))


if __name__ == "__main__":
    main()
