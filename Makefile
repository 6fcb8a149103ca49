# make setup     .venv/bin/pathweave, from nothing but Python 3.11, Rust and a C compiler
# make linux     .venv/bin/pathweave-linux for `pathweave kernel` and `testbed`; needs clang, libelf and zlib
# make demo      a first table and report
# make test      every check: formatting, lints, types, tests
# make random    2,000 random scenarios (make test has them too); FIRST=2001 takes others
# make fuzz      searches for inputs that break something, guided by coverage: five minutes each (SECONDS_EACH=300)
# make validate  comparison with ns-3; make validate-ns2 with ns-2; make validate-testbed with real hosts
# make reproduce the published experiments, compared with what papers/ has recorded: an hour or two (ROWS="xmp amp/fig8")
# make test-slurm the scripts of docs/many-machines.md on a Slurm cluster of one node; needs Debian's slurm-wlm
# make bench     speed of the engine
# make mutants   whether tests notice changes in crates/control (an hour or two)
# make mutants-linux whether tests notice faults between the kernel and the controllers; needs root (FAULT=pacing takes some)
# make wheels    dist/: wheels for Linux on x86-64 and aarch64, the source distribution, checksums
# make deb       dist/: the Debian package of pathweave-linux, checksums; make test-deb installs and purges it on Debian 12 and 13
# make test-kernels boots Debian's kernels in qemu with that package, and tries it in each; half an hour or more (KERNELS="bookworm trixie" takes some)
# make audit     compares the locked crates and Python packages with published advisories; needs cargo-audit, pip-audit and the network
# make crates    tries whether pathweave-units and pathweave-control can be published
# make notes     the release notes of this version, from CHANGELOG.md
# make lock      pin the Python dependencies again
# make clean     remove what was built (results stay)

SHELL := /bin/sh
.SHELLFLAGS := -ec
.DELETE_ON_ERROR:
.DEFAULT_GOAL := setup
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
TARGET := $(or $(CARGO_TARGET_DIR),target)
# The Rust tool chain installs itself where not every shell looks.
export PATH := $(CURDIR)/$(BIN):$(PATH):$(HOME)/.cargo/bin
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
unexport PYTHONPATH PYTHONHOME CONDA_PREFIX

# Everything that the extension is built from; a change in it, and nothing else, builds it again.
CORE := Cargo.toml $(wildcard Cargo.lock) pyproject.toml \
	$(shell find crates \( -path crates/linux -o -path crates/noq \) -prune -o -type f \( -name '*.rs' -o -name 'Cargo.toml' -o -path '*/src/*' \) -print)

# Tests use the extension of `make setup` where it is up to date, else one of their own in a folder with links to the
# sources of the package: `make test` never replaces the user's.
EXTENSION_IS_CURRENT := $(shell test -e $(VENV)/.extension && \
	test -z "$$(find $(CORE) -newer $(VENV)/.extension -print -quit)" && echo yes)
PACKAGE := $(if $(EXTENSION_IS_CURRENT),python,$(TARGET)/tested/package)

# What runs on real hosts is built where its compiler and headers are.
HAS_CLANG := $(shell command -v clang >/dev/null && echo 'int main(void) { return 0; }' | \
	clang -x c - -include libelf.h -include zlib.h -o /dev/null 2>/dev/null && echo yes)

# The makefile of libbpf, which a library brings along, fails in a folder whose path has a space.
HAS_SPACE := $(filter-out 1,$(words $(if $(filter /%,$(CARGO_TARGET_DIR)),,$(CURDIR)/)$(CARGO_TARGET_DIR)))
BUILDS_LINUX := $(if $(HAS_SPACE),,$(HAS_CLANG))

# Clippy reads the fuzz targets everywhere, and only `make fuzz` links them with libFuzzer: a library that need not be
# there takes the place of the one that would be compiled.
WITHOUT_LIBFUZZER := CUSTOM_LIBFUZZER_PATH=/nowhere/libFuzzer.a
# Tests are linked with the libraries of the machine; the extension module is tested from Python.
TESTED := --workspace --exclude pathweave-python $(if $(BUILDS_LINUX),,--exclude pathweave-linux)
# Random scenarios that are tested.
SCENARIOS := 2000
# Tests that take the machine's kernel and its time for themselves.
ON_THIS_MACHINE := this_machine::

.PHONY: setup linux demo test test-static test-types test-rust test-lockstep test-linux test-beside-the-kernel test-instructions test-python test-abuse package test-slurm random fuzz validate validate-ns2 validate-testbed reproduce bench mutants mutants-linux wheels deb test-deb test-kernels audit crates notes lock clean tools

setup: $(VENV)/.extension

linux: setup $(VENV)/.linux

demo: setup
	$(BIN)/pathweave run examples/patterns.toml
	$(BIN)/pathweave report results/patterns

# Three builds of the core serve all tests: the development profile, the profile `tested`, and one for loom. docs/checks.md
# has the steps and what each takes. The report's page is tried in a browser where there is one; REQUIRE_CHROMIUM=yes
# insists.
test: export PATHWEAVE_REQUIRE_CHROMIUM := $(REQUIRE_CHROMIUM)
test:
	@HAS_CLANG=$(HAS_CLANG) HAS_SPACE=$(HAS_SPACE) REQUIRE_KERNEL=$(REQUIRE_KERNEL) REQUIRE_CHROMIUM=$(REQUIRE_CHROMIUM) \
		REQUIRE_VALGRIND=$(REQUIRE_VALGRIND) tests/announce.sh
	$(MAKE) test-static
	cargo test --quiet $(TESTED) --no-run
	@$(IDLE) $(MAKE) test-beside-the-kernel & beside=$$!; trap "kill $$beside" INT TERM; \
		linux=0; $(MAKE) test-linux || linux=$$?; wait $$beside && exit $$linux
	$(MAKE) test-python

# The kernel's tests leave one of two processors idle. Other tests run there, at idle priority.
IDLE := $(shell test "$$(nproc)" -ge 2 && chrt --idle 0 true 2>/dev/null && echo chrt --idle 0)
test-beside-the-kernel:
	$(MAKE) test-rust
	$(MAKE) test-types
	$(MAKE) test-lockstep
	$(MAKE) test-instructions
	$(MAKE) package

# Formatting and lints.
test-static: $(VENV)/.dependencies | tools
	cargo fmt --all --check
	$(WITHOUT_LIBFUZZER) cargo clippy --workspace $(if $(BUILDS_LINUX),,--exclude pathweave-linux) --all-targets \
		--features pathweave-fuzz/libfuzzer --quiet -- -D warnings
	$(BIN)/ruff check python tests benches examples release crates/linux/faults
	$(BIN)/ruff format --check python tests benches examples release crates/linux/faults

test-types: $(VENV)/.dependencies
	$(BIN)/basedpyright --warnings

# All Rust tests but those on this machine's kernel. docs/checks.md says what random scenarios are held to.
test-rust: export PATHWEAVE_SCENARIOS := $(SCENARIOS)
test-rust: tools
	cargo test --quiet $(TESTED) -- --skip $(ON_THIS_MACHINE)

random: export PATHWEAVE_SCENARIOS := $(or $(COUNT),$(SCENARIOS))
random: export PATHWEAVE_FIRST_SCENARIO := $(or $(FIRST),1)
random: tools
	cargo test --quiet $(TESTED) --test engine -- random_scenarios::

# Where tests import the package from: the sources, or links to them beside an extension that was built for the tests.
package: $(VENV)/.dependencies $(if $(EXTENSION_IS_CURRENT),,$(VENV)/.tested)
	@test "$(PACKAGE)" = python || tests/package_with_extension.sh "$(TARGET)/tested"

test-python: package
	$(BIN)/pytest --quiet --numprocesses auto --override-ini "pythonpath='$(PACKAGE)' tests"

# The stable compiler counts the edges; libFuzzer comes with a crate and needs a C++ compiler. What is found
# is left in target/fuzz/found; new inputs are kept in target/fuzz/corpus, and `make fuzz-corpus` takes over those
# that reach something new.
FUZZ_TARGETS := scenario subflow losses codecs schedule recordings
FUZZ_SECONDS := $(or $(SECONDS_EACH),300)
# For the shell of a recipe, which knows where the tool chain is.
HOST := $$(rustc -vV | sed -n 's/^host: //p')
fuzz fuzz-corpus: export RUSTFLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1
.PHONY: fuzz-build fuzz-corpus
fuzz-build: tools
	@command -v c++ >/dev/null || { \
		echo "missing: a C++ compiler, for libFuzzer (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++)" >&2; \
		exit 1; }
	cargo build --package pathweave-fuzz --features libfuzzer --target "$(HOST)" --target-dir target/fuzz

fuzz: fuzz-build
	@mkdir -p target/fuzz/found
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p target/fuzz/corpus/$$target; \
		echo "$$target: $(FUZZ_SECONDS) s"; \
		target/fuzz/$(HOST)/debug/$$target -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 -print_final_stats=1 \
			-artifact_prefix=target/fuzz/found/$$target- target/fuzz/corpus/$$target fuzz/corpus/$$target \
			> target/fuzz/$$target.log 2>&1 || { tail -40 target/fuzz/$$target.log; exit 1; }; \
		grep 'DONE\|number_of_executed_units' target/fuzz/$$target.log; \
	done

fuzz-corpus: fuzz-build
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p target/fuzz/corpus/$$target; \
		target/fuzz/$(HOST)/debug/$$target -merge=1 fuzz/corpus/$$target target/fuzz/corpus/$$target; \
	done

# The hand-over of regions between threads, in all orders that loom can think of.
test-lockstep: export RUSTFLAGS := --cfg loom
test-lockstep: tools
	cargo test --quiet --profile tested --package pathweave-lockstep --test lockstep --target-dir target/loom

# What a packet-hop costs, against what is recorded in benches/instructions.json.
test-instructions: $(VENV)/.dependencies | tools
	@if command -v valgrind >/dev/null; then PYTHONPATH=python $(BIN)/python -m pathweave bench --check; \
	elif test -n "$(REQUIRE_VALGRIND)"; then echo "valgrind is missing" >&2; exit 1; fi

# All of the abuse that `make test` tries a sample of: about ten minutes of two cores. docs/checks.md says what it is.
test-abuse: package
	PYTHONPATH="$(PACKAGE):tests" $(BIN)/python -m abuse --seed $(or $(SEED),1) --jobs $(or $(JOBS),1) --only "$(ONLY)"

# Starts the daemons for as long as it takes, and leaves them nowhere else.
test-slurm: export PATHWEAVE_SLURM := yes
test-slurm: setup
	@command -v sbatch >/dev/null || { echo "missing: Slurm (Debian, Ubuntu: apt install slurm-wlm)" >&2; exit 1; }
	$(BIN)/pytest --quiet tests/test_many_machines_page.py

# Nothing of the same priority may run meanwhile, because the testbed refuses a fabric that is late. What the machine does
# not allow is left out; REQUIRE_KERNEL=yes makes that an error.
test-linux: export PATHWEAVE_REQUIRE_KERNEL := $(REQUIRE_KERNEL)
test-linux: $(VENV)/.dependencies | tools
ifeq ($(BUILDS_LINUX),)
	@test -z "$(REQUIRE_KERNEL)" || { echo "clang, libelf or zlib is missing, or the path has a space" >&2; exit 1; }
else
	cargo test --quiet $(TESTED) --test linux -- $(ON_THIS_MACHINE)
endif

# ns-3's results are kept, for they take half an hour of a core.
validate: RESULTS ?= validation/ns3/build/results
validate: OURS := validation/ns3/build/pathweave
validate: setup
	validation/ns3/install.sh
	KEEP=yes $(MAKE) -C validation/ns3 results RESULTS=$(abspath $(RESULTS))
	$(BIN)/python validation/pathweave_side.py $(RESULTS) $(OURS)
	$(BIN)/python validation/explain.py $(RESULTS) $(OURS)

validate-ns2: setup
	$(BIN)/python validation/ns2/compare.py

# As root, and for two hours nothing else should run.
validate-testbed: linux
	BIN=$(BIN) validation/testbed/measure.sh

reproduce: setup
	$(BIN)/pathweave reproduce $(ROWS) --explain --check

bench: setup
	$(BIN)/pathweave bench

# First the unit tests without their longest against every mutant, then all tests against what is left.
# Without optimisation, for most of the time goes to compiling. docs/history/mutants.md has the results.
mutants: export CARGO_PROFILE_DEV_OPT_LEVEL := 0
mutants: export CARGO_PROFILE_DEV_DEBUG := 0
mutants: OUTPUT ?= target/mutants
mutants:
	@command -v cargo-mutants >/dev/null || \
		{ echo "missing: cargo-mutants (cargo install --locked cargo-mutants)" >&2; exit 1; }
	rm -rf $(OUTPUT)/mutants.out $(OUTPUT)/mutants.out.old
	mkdir -p $(OUTPUT)
	PROPTEST_CASES=16 cargo mutants --package pathweave-control --jobs 1 --timeout 10 --output $(OUTPUT) \
		--cargo-arg=--lib -- -- --skip windows_are_to_a_tcps --skip random_congestion --skip the_equilibrium \
		--skip settles || test $$? -eq 2 -o $$? -eq 3
	cargo mutants --package pathweave-control --jobs 1 --timeout 60 --output $(OUTPUT) --iterate || \
		test $$? -eq 2 -o $$? -eq 3

# Outside `make test`: it builds once for each fault. docs/history/mutants.md says what it tries.
mutants-linux:
	python3 crates/linux/faults/run.py $(if $(FAULT),--only "$(FAULT)")

# zig links against the symbols of glibc 2.17, whatever glibc this machine has.
WHEEL_TARGETS ?= x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
wheels: $(VENV)/.dependencies | tools
	@uv pip install --quiet --require-hashes --requirement requirements-wheels.lock
	@rm -f dist/*.whl dist/*.tar.gz
	@for target in $(WHEEL_TARGETS); do \
		if test -d "$$(rustc --print sysroot)/lib/rustlib/$$target/lib"; then \
			echo "compiling for $$target"; \
			maturin build --release --strip --zig --compatibility manylinux2014 --target "$$target" --out dist --quiet; \
		else \
			echo "left out: $$target (rustup target add $$target)"; \
		fi; \
	done
	@maturin sdist --out dist 2>&1 | tail -1
	@$(BIN)/python release/checksums.py dist

# Run it on Debian 12: the package depends on the libraries of the machine that builds it.
deb:
	@binary=$$(release/deb/compile.sh) && python3 release/deb/build.py "$$binary"
	@python3 release/checksums.py dist

# As root. Needs debootstrap.
test-deb: deb
	release/deb/test.sh

# As root, outside `make test`. Needs debootstrap, qemu-system-x86 and e2fsprogs. Debian 12's own kernel is too old, and the unit has to cope.
KERNELS ?= bookworm bookworm-backports trixie trixie-backports sid
test-kernels: deb
	@failed=; for kernel in $(KERNELS); do release/deb/boot.sh $$kernel || failed="$$failed $$kernel"; done; \
		test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }

# Outside `make test`, because advisories change without a commit. States the date of the advisories, or that they are not available.
# ADVISORY_DB may name a clone of the advisory database of RustSec, which is used instead of the newest.
audit: $(BIN)/python
	@$(BIN)/python release/audit.py

crates: tools
	cargo publish --dry-run --package pathweave-units --package pathweave-control

notes: $(BIN)/python
	@$(BIN)/python release/notes.py

lock: $(VENV)/.uv
	uv pip compile --quiet pyproject.toml --extra dask --extra optimum --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command "make lock" \
		--output-file requirements.lock
	uv pip compile --quiet --group wheels --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command "make lock" \
		--output-file requirements-wheels.lock

clean:
	rm -rf $(VENV) target dist .pytest_cache .ruff_cache .hypothesis
	rm -f python/pathweave/_core*.so
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Says what is missing, and how to get it, before anything is built.
tools:
	@missing=; \
	need() { missing=yes; printf '%s\n' "$$1" >&2; }; \
	command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || \
		need "missing: a C compiler (Debian, Ubuntu: apt install build-essential; Fedora: dnf install gcc)"; \
	command -v cargo >/dev/null || \
		need "missing: Rust 1.88 or newer, with cargo (install rustup, then: rustup default stable)"; \
	$(find_python); \
	test -x $(BIN)/python || test -n "$$python" || \
		need "missing: Python 3.11 or newer (Debian, Ubuntu: apt install python3 python3-venv; Fedora: dnf install python3)"; \
	if command -v cargo >/dev/null; then \
		rust=$$(rustc --version 2>/dev/null | cut -d' ' -f2); \
		case "$$rust" in \
			1.[0-9].*|1.[0-7][0-9].*|1.8[0-7].*|"") need "too old: Rust $$rust; 1.88 or newer is needed (rustup update)";; \
		esac; \
	fi; \
	test -z "$$missing"

# Sets $python to the first interpreter that is new enough, or to nothing.
define find_python
python=; for name in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if test -z "$$python" && command -v $$name >/dev/null && \
		$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then python=$$name; fi; \
done
endef

$(BIN)/python: | tools
	@$(find_python); \
	echo "making $(VENV) with $$($$python --version)"; \
	$$python -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$$python cannot make a virtual environment (Debian, Ubuntu: apt install python3-venv)" >&2; \
		exit 1; }

$(VENV)/.uv: | $(BIN)/python
	@command -v uv >/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@touch $@

$(VENV)/.dependencies: requirements.lock | $(VENV)/.uv
	@echo "installing Python packages"
	@uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes \
		--requirement requirements.lock
	@touch $@

$(VENV)/.linux: $(CORE) $(shell find crates/linux crates/noq -type f) | $(BIN)/python tools
	@test -n "$(HAS_CLANG)" || { \
		echo "missing: clang and the headers of libelf and zlib (Debian, Ubuntu: apt install clang libelf-dev" \
			"zlib1g-dev; Fedora: dnf install clang elfutils-libelf-devel zlib-devel)" >&2; exit 1; }
	@test -z "$(HAS_SPACE)" || { \
		echo "libbpf does not build in a folder whose path has a space; set CARGO_TARGET_DIR to another" >&2; exit 1; }
	@echo "compiling the controllers for the kernel, their loader and the testbed"
	@cargo build --package pathweave-linux --release --quiet
	@install "$${CARGO_TARGET_DIR:-target}/release/pathweave-linux" $(BIN)/pathweave-linux
	@touch $@

$(VENV)/.extension: $(CORE) $(VENV)/.dependencies | tools
	@echo "compiling the core (a few minutes the first time)"
	@UV_OFFLINE=1 maturin develop --release --uv --quiet
	@touch $@

$(VENV)/.tested: $(CORE) $(VENV)/.dependencies $(if $(wildcard $(TARGET)/tested/wheel/*.whl),,FORCE) | tools
	@echo "compiling the core for the tests (\`make setup\` is not up to date)"
	@rm -rf "$(TARGET)/tested/wheel"
	@maturin build --profile tested --quiet --out "$(TARGET)/tested/wheel"
	@touch "$@"

FORCE:
