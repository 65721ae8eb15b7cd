# iosonde: the two commands are `make run` and `make test`.

CARGO ?= cargo
# As the build of everything makes it: of the package alone, crates that it
# shares with the others would be built a second time, with other features.
XTASK = $${CARGO_TARGET_DIR:-target}/debug/xtask

.PHONY: run build test fresh exact bench docs course minimum deny dist dist-test release needs cross

# Build the program and run a short, safe, mixed job on a temporary file in the
# current directory, removed afterwards. Optimised is what runs for each I/O: the
# rest of a release takes twice as long to build.
run:
	$(CARGO) build --profile first-run --locked -p iosonde
	$${CARGO_TARGET_DIR:-./target}/first-run/iosonde

# The program as it is installed.
build:
	$(CARGO) build --release --locked -p iosonde

# Everything that must pass: format, lints, documents, then all tests (of the
# workspace, of the Node package, for other systems). The last line counts them,
# above it each skipped test has its reason; REQUIRE_ALL=1 makes a skip a failure.
test: needs
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --quiet
	$(CARGO) build --locked --workspace --bins --examples --tests
	$(XTASK) docs --check
	$(XTASK) tidy
	./scripts/spelling.sh
	./scripts/deny.sh
	$(XTASK) test

# Both commands of the README in a Debian that has only what the README names: made by debootstrap, as root.
fresh:
	./scripts/fresh.sh

# All recorded random jobs against fio 3.42; make test runs a sample of them.
exact:
	IOSONDE_EXACT=all $(CARGO) test --locked --release -p iosonde --test fio exact::

# Cost of an I/O beside fio: ratios taken alternately, and instructions counted.
bench: needs build
	RUSTFLAGS="-Ctarget-cpu=x86-64-v3" $(CARGO) build --release --locked -p iosonde --target-dir target/v3
	./scripts/bench.py
	$(CARGO) build --release --locked -p iosonde-records --example bare
	./scripts/bench-records.py
	$(CARGO) bench --locked --quiet -p iosonde-meta --bench calls

# The direct-I/O crate for Windows (run under Wine), macOS and FreeBSD (type-checked).
# What that takes is made once, in some minutes; from then on make test does it too.
cross:
	./scripts/cross-check.sh --wine

# Pages made from the tables.
docs:
	$(CARGO) run --locked --quiet -p xtask -- docs

# Everything type-checks with the oldest Rust that the manifests name.
minimum:
	./scripts/minimum.sh

# Licences, versions, sources and advisories of all crates; fails if one cannot be checked.
deny:
	./scripts/deny.sh --require

# Packages in dist/: tarballs, .deb, .rpm, wheels, npm packages, SBOMs, checksums; checks that the crates can be published.
dist:
	./scripts/dist.sh $(PROCESSORS)

# Installs each of them in a clean place, runs it, removes it.
dist-test:
	./scripts/dist-test.sh

# Everything before a tag; tags nothing and uploads nothing. A part that cannot be done here makes it fail, unless
# SKIP_MISSING=1: then each is named.
release: test minimum deny dist dist-test bench
	@version=$$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml); \
	grep -q "^## \[$$version\] - [0-9]" CHANGELOG.md || { echo "CHANGELOG.md has no date for $$version" >&2; exit 1; }; \
	[ -z "$$(git status --porcelain)" ] || { echo "there are changes that are not committed" >&2; exit 1; }; \
	echo "to tag: git tag -a v$$version -m 'iosonde $$version' $$(git rev-parse HEAD)"

# Outputs and pictures of the course, by the release build. On a quiet machine; then read the difference.
course: build
	UPDATE=1 COURSE_PROGRAM=target/release/iosonde \
		$(CARGO) test --locked -p iosonde --test commands course:: -- --test-threads=1
	git diff --stat docs/course

# What the tests use besides a Rust toolchain.
needs:
	@./scripts/needs.sh
