"""Write SHA256SUMS beside the artifacts of a release: a line for each, whichever command made it.

Example: python3 release/checksums.py dist
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

ARTIFACTS = ("*.deb", "*.whl", "*.tar.gz")


def checksums(folder: Path) -> str:
    """What `sha256sum` prints for the artifacts, in the order of their names."""
    found = sorted((path for pattern in ARTIFACTS for path in folder.glob(pattern)), key=str)
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in found
    )


def main() -> None:
    """Write them, and print them."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit("usage: checksums.py FOLDER, for example dist")
    folder = Path(sys.argv[1])
    text = checksums(folder)
    (folder / "SHA256SUMS").write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
