# A thin front: meson and ninja build, the files in script/ do the rest.

BUILD ?= build

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@meson setup $(BUILD) >/dev/null

install: all
	meson install -C $(BUILD) --no-rebuild

image: all # build/muster-image.tar: muster as an OCI image, made without docker
	@tools/make_image.py $(BUILD) $(BUILD)/muster-image.tar

test: # installs what is missing, builds, runs every test
	script/test

check: all # form, floors, symbols, linters
	script/check

soak: # long random runs: kills, jobs in virtual time, fuzzers
	script/soak

bench: # every figure of docs/benchmarks.md, beside the peers that are installed
	script/bench

clean:
	rm -rf $(BUILD) build-*

.PHONY: all install image test check soak bench clean
