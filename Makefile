# Every command that the project needs. `make demo` and `make test` install what is missing, then run.

SWIFT ?= swift
# How long 'make fuzz' goes on for each driver and each fuzzer.
SECONDS ?= 60
# Where 'make install' puts the command.
PREFIX ?= /usr/local
# What the command is built with: TRAITS=Inspector,Crypto adds 'garage serve', and some minutes; TRAITS=Command,Crypto,PostgreSQL
# opens stores in PostgreSQL, and needs libpq.
TRAITS ?= Command,Crypto
# GARAGE_COMMAND is where the command is, if it was built in release mode already: then 'make garage' builds nothing.

.PHONY: help demo test test-long test-crypto lint format engines consumer fuzz test-address test-thread bench
.PHONY: check-archive clean garage install test-command test-inspector test-postgres

help:
	@echo 'make demo           build in release mode and park this machine'"'"'s package database'
	@echo 'make test           run all tests but those of PostgreSQL, of the ciphers and of the command'
	@echo 'make test-long      the same at full size: an hour or two'
	@echo 'make test-crypto    test GarageCrypto, with swift-crypto, which this downloads and builds'
	@echo 'make test-postgres  test GaragePostgres on a server that this starts; needs postgresql and libpq-dev'
	@echo 'make lint           check the style only'
	@echo 'make format         format the sources in place'
	@echo 'make garage         build the command that looks into stores; downloads swift-argument-parser and swift-crypto'
	@echo '                    TRAITS=Inspector,Crypto with the inspector, which downloads and builds Hummingbird'
	@echo 'make install        install it below PREFIX=/usr/local, with completions and a man page'
	@echo 'make test-command   test it'
	@echo 'make test-inspector test the inspector over HTTP and in Chromium, which this installs'
	@echo 'make consumer       build an app package against this one: no third-party code allowed'
	@echo 'make fuzz           random histories on every driver, and fuzzers of stored bytes: SECONDS=60 each'
	@echo 'make test-address   the tests under AddressSanitizer'
	@echo 'make test-thread    the tests under ThreadSanitizer'
	@echo 'make bench          measure beside the peers: Docs/Benchmarks.md; ARGUMENTS=--quick for two minutes'
	@echo 'make check-archive  compare the demo with an independent count over the full Debian archive'
	@echo 'make clean          remove everything that was built'

demo: engines
	$(SWIFT) build --configuration release --product garage-demo
	@"$$($(SWIFT) build --configuration release --show-bin-path)/garage-demo" $(ARGUMENTS)

test: engines
	$(SWIFT) build --build-tests
	Scripts/test.sh

# The same tests with as many objects, steps and kills as they are meant for: an hour or two.
test-long: engines
	$(SWIFT) build --build-tests
	GARAGE_LONG_TESTS=1 Scripts/test.sh $(ARGUMENTS)

# Optimized, because the suite runs over the ciphers byte by byte. Not for testable imports, so that what apps are built of can be used.
test-crypto: engines
	$(SWIFT) test --package-path Tests/CryptoTests --scratch-path .build-crypto --disable-xctest --disable-testable-imports \
		--configuration release

test-postgres: engines
	Scripts/test-postgres.sh $(ARGUMENTS)

# The package manager names traits to the compiler in the order of a hash table. Where there are several, each second build would
# compile everything anew.
garage test-crypto: export SWIFT_DETERMINISTIC_HASHING = 1

# Prints where the command is, last.
ifdef GARAGE_COMMAND
garage:
	@echo "$(GARAGE_COMMAND)"
else
garage: engines
	@$(SWIFT) build --scratch-path .build-command --traits $(TRAITS) --configuration release --product garage >&2
	@echo "$$($(SWIFT) build --scratch-path .build-command --traits $(TRAITS) --configuration release --show-bin-path)/garage"
endif

install:
	Scripts/install-command.sh "$(PREFIX)"

test-command: engines
	python3 Scripts/check-command.py

test-inspector: engines
	Scripts/test-inspector.sh $(ARGUMENTS)

lint:
	Scripts/check-style.sh
	python3 Scripts/check-structure.py --self-test
	python3 Scripts/check-structure.py
	python3 Scripts/check-verbs.py --self-test
	python3 Scripts/check-verbs.py

format:
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests

# SQLite, LMDB and pkg-config. Quick when they are there.
engines:
	@Scripts/install-engines.sh

consumer: engines
	Scripts/check-consumer.sh

fuzz: engines
	GARAGE_FUZZ_SECONDS=$(SECONDS) $(SWIFT) test --disable-xctest --filter FuzzTests
	Scripts/fuzz.sh $(SECONDS)

test-address: engines
	Scripts/sanitize.sh address

test-thread: engines
	Scripts/sanitize.sh thread

# Standard output has the result only: `make --silent bench ARGUMENTS=--json >rows.json`.
bench: engines
	@$(SWIFT) build --package-path Benchmarks --configuration release --product compare >&2
	@"$$($(SWIFT) build --package-path Benchmarks --configuration release --show-bin-path)/compare" $(ARGUMENTS)

check-archive: engines
	Scripts/check-archive.sh

clean:
	rm -rf .build .build-consumer .build-crypto .build-command .build-inspector .build-postgres Benchmarks/.build Benchmarks/.build-postgres
