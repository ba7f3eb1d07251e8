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

# A muster for other systems: it brings its libraries, all but the C library.
$(BUILD)-portable/build.ninja:
	@meson setup $(BUILD)-portable -Dprefer_static=true -Dtests=disabled --buildtype=release >/dev/null

wheel: # what `pip install` installs on other systems, in build-portable
	script/wheel

static: all # muster in one file, for any Linux: without clusters
	@cp $(BUILD)/muster-static $(BUILD)/muster-$$(tools/version)-$$(uname -m)
	@echo $(BUILD)/muster-$$(tools/version)-$$(uname -m)

dist: # the sources of the last commit, as a file
	@git archive --prefix muster-$$(tools/version)/ HEAD | gzip -n -9 >$(BUILD)/muster-$$(tools/version).tar.gz
	@echo $(BUILD)/muster-$$(tools/version).tar.gz

server-image: $(BUILD)-portable/build.ninja # `muster server` on BASE=IMAGE, a file or a name, which has TensorFlow
	@test -n "$(BASE)" || { echo 'make server-image: which image has TensorFlow? BASE=FILE or BASE=NAME' >&2; exit 2; }
	@ninja -C $(BUILD)-portable --quiet muster
	@tools/make_server_image.py $(BUILD)-portable $(BASE) $(BUILD)/muster-server-image.tar $(IMAGE)

test: # installs what is missing, builds, runs every test
	script/test

check: all # form, floors, symbols, linters
	script/check

soak: # long random runs: kills, jobs in virtual time, fuzzers
	script/soak

stress: # whether any test fails by chance: beside busy loops, and on one core
	script/stress

bench: # every figure of docs/benchmarks.md, beside the peers that are installed
	script/bench

coverage: # how much of src/ the tests reach, folder by folder
	script/coverage

clean:
	rm -rf $(BUILD) build-*

.PHONY: all install image wheel static dist server-image test check soak stress bench coverage clean
