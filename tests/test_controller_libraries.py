"""Controllers behind the C interface: in shared libraries, and by the addresses of functions."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from controller_scenario import (
    EXAMPLES,
    counter,
    failure,
    finished,
    mistakes,
    played,
    scenario,
)
from pathweave import controller
from pathweave.controller import compiled
from pathweave.core import core

CC = shutil.which("cc") or "cc"  # the project does not build without it
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")

BASE = """
#include "pathweave_controller.h"
static int32_t on_ack(const pathweave_connection *it, uint32_t r, const pathweave_ack *ack) {
    (void)ack; (void)r; (void)it;
    ON_ACK
    return 0;
}
static int32_t on_loss(const pathweave_connection *it, uint32_t r, uint32_t loss, uint64_t now) {
    (void)now;
    pathweave_respond_to_loss(&it->paths[r], loss, it->paths[r].window);
    return 0;
}
static int32_t on_subflow(const pathweave_connection *it, uint32_t r, uint32_t change) {
    (void)it; (void)r; (void)change;
    return 0;
}
static const char *const modes[] = {"fast", "slow", NULL};
static const pathweave_parameter parameters[] = {
    {.name = "gain", .help = "A gain.", .default_value = 2, .minimum = 1, .maximum = 9,
     .integer = 1},
    {.name = "mode", .help = "A mode.", .choices = modes},
};
PATHWEAVE_EXPORT const pathweave_controller controller = {
    .abi = ABI, .parameters = parameters, .parameter_count = 2, .name = "small",
    .on_ack = on_ack, .on_loss = on_loss, .on_subflow = on_subflow, MORE
};
"""


def build(folder: Path, source: Path, name: str, *flags: str) -> Path:
    """Compile a C file into a shared library of the folder."""
    subprocess.run(
        [
            CC, "-std=c11", *WARNINGS, "-shared", "-fPIC", "-O2", "-ffp-contract=off", *flags,
            "-I", str(controller.include()), "-o", name, str(source), "-lm",
        ],
        cwd=folder,
        check=True,
    )  # fmt: skip
    return folder / name


def small(folder: Path, on_ack: str = "", more: str = "", abi: str = "PATHWEAVE_ABI") -> str:
    """A scenario with a library of these parts."""
    source = folder / "small.c"
    text = BASE.replace("ON_ACK", on_ack).replace("MORE", more).replace("ABI,", f"{abi},")
    source.write_text(text.replace("PATHWEAVE_PATHWEAVE", "PATHWEAVE"))
    build(folder, source, "small.so")
    return scenario('{ library = "small.so" }')


def refused(text: str, folder: Path) -> str:
    """What is wrong with a scenario's controller."""
    (mistake,) = mistakes(text, folder)
    assert mistake["line"] == 27, "the scenario's line"
    remedy = mistake["help"]
    return mistake["message"] if remedy is None else f"{mistake['message']}; {remedy}"


def test_lia_in_c_gives_the_bits_of_pathweaves_own(tmp_path: Path) -> None:
    build(tmp_path, EXAMPLES / "lia.c", "lia.so")
    found = played('{ library = "lia.so:lia" }', tmp_path)
    assert found.results_hash == played('"lia"').results_hash
    assert counter(found, "dropped") > 100
    # With another share the results are others.
    other = played('{ library = "lia.so:lia", cut = 0.4 }', tmp_path)
    assert other.results_hash != found.results_hash


def test_threads_do_not_change_the_bits(tmp_path: Path) -> None:
    build(tmp_path, EXAMPLES / "lia.c", "lia.so")
    text = re.sub(
        r"(?s)\[fabric\].*?\n\n",
        '[fabric]\nkind = "fat-tree"\nk = 8\nrate = "10 Gbps"\ndelay = "20 us"\n'
        "queue = { limit = 50 }\n\n",
        scenario('{ library = "lia.so:lia" }'),
    )
    text = re.sub(r"(?s)\[\[events\]\].*?\n\n", "", text).replace("150 ms", "1500 us")
    alone = finished(text, tmp_path)
    loaded = core().load_text(text, "test", str(tmp_path), None, [], [], 1)
    assert loaded.variants[0].prepare(1, 2).most_threads > 1
    assert finished(text, tmp_path, threads=2).results_hash == alone.results_hash
    assert counter(alone, "dropped") > 0
    ours = text.replace('{ library = "lia.so:lia" }', '"lia"')
    assert finished(ours, tmp_path).results_hash == alone.results_hash


def test_the_header_is_sound_in_c_and_in_cxx(tmp_path: Path) -> None:
    for name, language in (("a.c", "c11"), ("a.cpp", "c++17")):
        (tmp_path / name).write_text(
            '#include "pathweave_controller.h"\nint main(void) { return 0; }'
        )
        compiler = CC if name.endswith(".c") else shutil.which("c++") or "c++"
        subprocess.run(
            [
                compiler, f"-std={language}", *WARNINGS, "-I", str(controller.include()),
                name, "-o", "a.out", "-lm",
            ],
            cwd=tmp_path,
            check=True,
        )  # fmt: skip


def test_the_records_are_those_of_the_header(tmp_path: Path) -> None:
    """Fields of numpy's records have the sizes and places that a C compiler gives them."""
    records = {
        "pathweave_path": compiled.PATH,
        "pathweave_ack": compiled.ACK,
        "pathweave_connection": compiled.CONNECTION,
    }
    lines, expected = [], []
    for name, record in records.items():
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append(record.itemsize)
        for field in record.names or ():
            lines.append(f'printf("%zu\\n", offsetof({name}, {field}));')
            kind, place = record.fields[field][:2]  # type: ignore[index]
            expected.append(place)
            lines.append(f'printf("%zu\\n", sizeof((({name} *)0)->{field}));')
            expected.append(kind.itemsize)
    (tmp_path / "sizes.c").write_text(
        '#include <stddef.h>\n#include <stdio.h>\n#include "pathweave_controller.h"\n'
        f"int main(void) {{ {' '.join(lines)} return 0; }}"
    )
    include = ["-I", str(controller.include())]
    subprocess.run([CC, *include, "sizes.c", "-o", "sizes", "-lm"], cwd=tmp_path, check=True)
    told = subprocess.run([str(tmp_path / "sizes")], capture_output=True, text=True, check=True)
    assert [int(line) for line in told.stdout.split()] == expected
    assert expected[0] == 96


def test_parameters_come_as_numbers_in_their_order(tmp_path: Path) -> None:
    text = small(tmp_path, "if (it->parameters[0] != 7 || it->parameters[1] != 1) return 5;")
    with_values = text.replace('"small.so"', '"small.so", gain = 7, mode = "slow"')
    assert finished(with_values, tmp_path).results_hash
    told = failure(text, tmp_path)
    assert "small.so: controller: on_ack returned 5; 0 is returned when all is well" in told
    assert '(group "web", h' in told
    wrong = text.replace('"small.so"', '"small.so", gain = 2.5')
    assert refused(wrong, tmp_path) == (
        "small cannot have gain = 2.5: gain takes an integer from 1 to 9"
    )


@pytest.mark.parametrize("window", ["NAN", "INFINITY", "0.5", "-1"])
def test_a_window_that_is_none_ends_the_run(tmp_path: Path, window: str) -> None:
    told = failure(small(tmp_path, f"it->paths[r].window = {window};"), tmp_path)
    assert "small.so: controller: on_ack left subflow 0 a window of " in told
    assert told.endswith("a window is a number of at least 1 packet and at most 1e9")


def test_libraries_that_cannot_be_used(tmp_path: Path) -> None:
    text = small(tmp_path)
    assert finished(text, tmp_path).results_hash
    told = refused(text.replace("small.so", "small.so:other"), tmp_path)
    assert told.startswith('small.so exports no "other"; a controller is a PATHWEAVE_EXPORT const')
    told = refused(small(tmp_path, abi="9"), tmp_path)
    assert told.startswith(
        'small.so: "controller" is of version 9 of the C interface, and this is version 1; build'
    )
    told = refused(small(tmp_path, more=".marks = 256"), tmp_path)
    assert told == (
        "small.so: controller: has marks = 256; "
        "an acknowledgement echoes 1 to 255, or 0 without ECN"
    )
    told = refused(small(tmp_path, more=".state_size = 1ull << 40"), tmp_path)
    assert "state takes at most 1048576 bytes" in told
    (tmp_path / "small.so").write_bytes(b"no library")
    told = refused(text, tmp_path)
    assert told.startswith("small.so cannot be loaded: file too short; a library is built with")
    (tmp_path / "small.so").unlink()
    assert refused(text, tmp_path).startswith('"small.so" cannot be read: ')


def test_a_library_that_is_built_again_is_another_one(tmp_path: Path) -> None:
    """Loaded again in the same process it is what the file has now, and the hash says so."""
    text = small(tmp_path, "it->paths[r].window = 4;")
    first = core().load_text(text, "test", str(tmp_path), None, [], [], 1).variants[0]
    before = finished(text, tmp_path)
    small(tmp_path, "it->paths[r].window = 8;")
    second = core().load_text(text, "test", str(tmp_path), None, [], [], 1).variants[0]
    assert first.settings_hash != second.settings_hash
    assert finished(text, tmp_path).results_hash != before.results_hash
    # What was loaded before goes on as it was.
    run = first.prepare(1)
    run.start()
    while run.poll()["state"] == "running":
        pass
    assert run.take().results_hash == before.results_hash
    known = core()
    with pytest.raises(known.ScenarioError, match="is not the file that was meant"):
        known.from_resolved(first.resolved, tmp_path)
    assert known.from_resolved(second.resolved, tmp_path).variants[0].settings_hash == (
        second.settings_hash
    )


ADDRESSES = '''
import ctypes
import numpy as np
from pathweave.controller.compiled import CompiledController, CONNECTION, PATH

LIBRARY = ctypes.CDLL("{library}")
SEEN = []

@ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
def opened(connection, r, change):
    lent = (ctypes.c_char * CONNECTION.itemsize).from_address(connection)
    it = np.frombuffer(lent, CONNECTION)[0]
    SEEN.append((int(it["count"]), r, change))
    return 0

class Mine(CompiledController):
    """Lia, from addresses and a function of ctypes."""
    name = "lia"
    subflow = np.dtype([("end", "u8"), ("window_before", "f8"), ("has_cut", "u8")])
    on_ack = ctypes.cast(LIBRARY.ack, ctypes.c_void_p).value
    on_loss = ctypes.cast(LIBRARY.lost, ctypes.c_void_p).value
    on_subflow = opened
'''


def test_functions_can_be_given_by_their_addresses(tmp_path: Path) -> None:
    source = (EXAMPLES / "lia.c").read_text()
    source = source.replace("connection->parameters[0]", "0.5")
    source += """
int32_t ack(const pathweave_connection *c, uint32_t r, const pathweave_ack *a) {
    return on_ack(c, r, a);
}
int32_t lost(const pathweave_connection *c, uint32_t r, uint32_t l, uint64_t n) {
    return on_loss(c, r, l, n);
}
"""
    (tmp_path / "a.c").write_text(source)
    library = build(tmp_path, tmp_path / "a.c", "a.so")
    (tmp_path / "mine.py").write_text(ADDRESSES.format(library=library))
    text = scenario('{ python = "mine.py" }')
    assert finished(text, tmp_path).results_hash == played('"lia"').results_hash


def test_what_numba_cannot_compile_is_told_with_its_line(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    source = (EXAMPLES / "lia_compiled.py").read_text()
    wrong = source.replace("if not lets_window_grow(ack):", "if not nothing_of_this_name(ack):")
    (tmp_path / "mine.py").write_text(wrong)
    told = refused(scenario('{ python = "mine.py" }'), tmp_path)
    assert re.match(r"mine\.py, line \d+: numba cannot compile Lia\.on_ack: ", told)
    assert "nothing_of_this_name" in told
    raising = source.replace(
        "if not lets_window_grow(ack):",
        "if r == 0:\n            raise ValueError\n        if not lets_window_grow(ack):",
    )
    (tmp_path / "mine.py").write_text(raising)
    assert "mine.py: Lia: on_ack returned 1" in failure(
        scenario('{ python = "mine.py" }'), tmp_path
    )


def test_a_compiled_controller_is_checked(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from pathweave.controller.compiled import CompiledController\n"
        "class Mine(CompiledController):\n    on_ack = 1\n"
    )
    told = refused(scenario('{ python = "mine.py" }'), tmp_path)
    assert (
        told == "mine.py: Mine has no on_loss; a CompiledController has on_ack, on_loss, on_subflow"
    )
    assert ctypes.sizeof(ctypes.c_void_p) == np.dtype(np.uintp).itemsize
