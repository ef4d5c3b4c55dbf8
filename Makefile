# Two commands are meant for people: `make demo` and `make test`. Both do all of their set-up.
# The other targets are their parts, and what .ci/run adds to them.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The Python environments of the AWS doubles; the tests find them through this variable.
LEVELSET_TEST_TOOLS ?= $(CURDIR)/target/test-tools
export LEVELSET_TEST_TOOLS

TOOLS := $(abspath $(LEVELSET_TEST_TOOLS))
CARGO ?= cargo
PYTHON ?= python3

CARGO_DENY_VERSION := 0.20.2
DENY := $(TOOLS)/cargo-deny-$(CARGO_DENY_VERSION)

CARGO_FUZZ_VERSION := 0.13.2
CARGO_FUZZ := $(TOOLS)/cargo-fuzz-$(CARGO_FUZZ_VERSION)

# Without OpenSSL's headers the build compiles OpenSSL itself, which takes minutes. Looked at when
# a recipe runs, because `.ci/packages` may just have installed them.
FEATURES = $$(pkg-config --exists openssl 2>/dev/null || echo --features=vendored-openssl)

.PHONY: help demo test sim fleet fuzz test-tools packages test-packages build lint deny clean-tools

help: ## Lists the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

demo: packages ## Shows Levelset at work on a cloud in memory; needs no AWS account
	@$(CARGO) run --locked $(FEATURES) -- demo

test: test-tools ## Runs every test, against the real peers that they need
	$(CARGO) test --locked $(FEATURES)

test-tools: test-packages ## Installs what the tests talk to: sshd, and three doubles of AWS from PyPI
	@$(MAKE) --no-print-directory $(TOOLS)/moto/.ready $(TOOLS)/ministack/.ready $(TOOLS)/microburst/.ready

# Our own crate alone is optimised, its checks are kept, and the dependencies are those of the tests.
SIMULATION = $(CARGO) test --locked $(FEATURES) --config profile.test.package.levelset.opt-level=1 \
  --test integration

sim: SEEDS ?= 10000
sim: packages ## Plays the agent in a simulated world: make sim SEEDS=100000
	SIM_SEEDS=$(SEEDS) $(SIMULATION) sim::many -- --ignored --nocapture

fleet: OBJECTS ?= 1000
fleet: packages ## Plays a day of a fleet in a simulated world: make fleet OBJECTS=1000
	SIM_OBJECTS=$(OBJECTS) $(SIMULATION) sim::fleet -- --ignored --nocapture

# Without a sanitizer the stable toolchain will do: what is looked for is panics and broken laws.
fuzz: TARGET ?= manifest
fuzz: SECONDS ?= 60
fuzz: packages $(CARGO_FUZZ)/bin/cargo-fuzz ## Fuzzes a reader, guided by coverage: make fuzz TARGET=manifest SECONDS=60
	FUZZ_SEEDS=$(CURDIR)/target/fuzz/seeds $(CARGO) test --quiet --locked $(FEATURES) \
	  --test integration fuzz::seeds_are_written -- --ignored
	@mkdir -p target/fuzz/found/$(TARGET)
	cp Cargo.lock tests/fuzz/Cargo.lock
	$(CARGO_FUZZ)/bin/cargo-fuzz run --fuzz-dir tests/fuzz --sanitizer none $(FEATURES) \
	  --target-dir target/fuzz/build $(TARGET) target/fuzz/found/$(TARGET) target/fuzz/seeds/$(TARGET) \
	  -- -max_total_time=$(SECONDS) -max_len=65536

build: packages ## Compiles the program for release, into target/release/levelset
	$(CARGO) build --locked --release $(FEATURES)

lint: packages ## Holds the code against rustfmt and clippy
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets $(FEATURES) -- -D warnings

deny: $(DENY)/bin/cargo-deny ## Holds the dependencies against deny.toml
	$(DENY)/bin/cargo-deny --locked check bans licenses sources

packages:
	@.ci/packages build

test-packages:
	@.ci/packages test

# Each double has an environment of its own, because their dependencies exclude each other.
$(TOOLS)/moto/.ready: REQUIRES := 'moto[server]==5.2.5' 'boto3==1.44.8'
$(TOOLS)/ministack/.ready: REQUIRES := 'ministack==1.5.33'
$(TOOLS)/microburst/.ready: REQUIRES := 'microburst==0.10.0'

$(TOOLS)/%/.ready: Makefile
	@echo "installing $(REQUIRES) into $(@D)"
	@rm -rf $(@D)
	@mkdir -p $(TOOLS)
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check $(REQUIRES)
	@touch $@

# A target folder of its own, so that the program's own cache is not thrown away.
$(DENY)/bin/cargo-deny:
	CARGO_TARGET_DIR=$(DENY)/target $(CARGO) install --quiet --locked --root $(DENY) \
	  --version $(CARGO_DENY_VERSION) cargo-deny
	@rm -rf $(DENY)/target

$(CARGO_FUZZ)/bin/cargo-fuzz:
	CARGO_TARGET_DIR=$(CARGO_FUZZ)/target $(CARGO) install --quiet --locked --root $(CARGO_FUZZ) \
	  --version $(CARGO_FUZZ_VERSION) cargo-fuzz
	@rm -rf $(CARGO_FUZZ)/target

clean-tools: ## Removes what test-tools and deny have installed
	rm -rf $(TOOLS)
