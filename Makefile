# make                    build/adaptrace, the library for --mpi, and the programs that tests record
# make demo               installs what is missing, builds, records a program, shows the report
# make check              installs what the tests need, builds, and runs all tests
# make check T=NAME       runs the tests whose name contains NAME
# make build/unit/FOLDER/TEST     builds one unit test of test/unit/FOLDER
# make check-hw           tests hardware counters in an emulated arm64 machine
# make check-cross        compiles everything for arm64 and riscv64
# make lint               checks format, layers, headers, manual pages; runs clang-tidy
# make bench              runs the benchmarks; T=NAME as for check
# make build/fuzz/FUZZER  builds a fuzzer of test/fuzz; needs clang
# make install            installs below PREFIX, /usr/local if not given; make uninstall removes it
# make clean              removes the folder BUILD, build if not given
# make print-libraries    lists the Debian packages of the libraries that adaptrace uses
# make help               shows this list

BUILD   ?= build
PREFIX  ?= /usr/local
CC      ?= cc
OBJCOPY ?= objcopy
CPU     := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
RUSTC   ?= $(shell command -v rustc 2>/dev/null)
VERSION := 0.1.0

# -- what it is made of ------------------------------------------------------------------------
# In the order of src/layers. A unit test in test/unit/FOLDER links the objects of these alone.
FOLDERS := base hmb perf symbolize trace record output cli
SRC     := $(sort $(shell find src -name '*.c'))
PRELOAD := $(filter src/preload/%,$(SRC))
LIBSRC  := $(filter-out $(PRELOAD) src/cli/main.c,$(SRC))
BENCH   := $(wildcard test/bench/bench_*.c)
TARGETS := $(wildcard test/targets/*.c)

PKGS_LIBS  := libcapstone-dev libdw-dev libelf-dev libiberty-dev libjson-c-dev liblzma-dev \
              libopen-trace-format2-dev libpfm4-dev libprotobuf-c-dev libunwind-dev libxxhash-dev \
              libncurses-dev uthash-dev zlib1g-dev
PKGS_BUILD := $(PKGS_LIBS) pkg-config protobuf-c-compiler
PKGS_CHECK := $(PKGS_BUILD) clang curl dwz g++ gfortran golang-github-google-pprof-dev libcap2-bin libcmocka-dev \
              libmpich-dev libomp-14-dev libopenmpi-dev mpich openmpi-bin otf2-tools procps protobuf-compiler python3 \
              python3-otf2 python3-six strace tmux valgrind
PKGS_LINT  := $(PKGS_CHECK) clang-format clang-tidy mandoc

LDLIBS  := -pthread -ldw -lelf -llzma -lpfm -lunwind-$(CPU:riscv64=riscv) -lunwind -lxxhash \
           -liberty -ljson-c -lprotobuf-c -lz -lm
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
           -Wpointer-arith -Wno-missing-field-initializers -Werror=incompatible-pointer-types \
           -Werror=int-conversion -Werror=implicit-function-declaration
OPT     ?= -O2 -g
# It runs with rights that its targets have not: as distributions build such programs.
HARDEN  := $(if $(SAN),,$(if $(filter -O2,$(OPT)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) \
           -fstack-protector-strong -fPIE)
DEFS    := -D_GNU_SOURCE -DADAPTRACE_VERSION='"$(VERSION)"'
# Everything works without libotf2 but convert --otf2, which then says so.
ifeq ($(shell pkg-config --exists otf2 2>/dev/null && echo yes),yes)
DEFS    += -DHAVE_OTF2 $(shell pkg-config --cflags otf2)
LDLIBS  += $(shell pkg-config --libs otf2)
else
LIBSRC  := $(filter-out src/output/otf2/%,$(LIBSRC))
endif
# report --annotate shows instructions as text with libcapstone, loaded then, and else their addresses.
ifeq ($(shell pkg-config --exists capstone 2>/dev/null && echo yes),yes)
DEFS    += -DHAVE_CAPSTONE $(shell pkg-config --cflags capstone)
endif

# adaptrace top has a screen with ncurses, and else --once alone, which it then says.
ifeq ($(shell pkg-config --exists ncursesw 2>/dev/null && echo yes),yes)
DEFS    += -DHAVE_NCURSES $(shell pkg-config --cflags ncursesw)
LDLIBS  += $(shell pkg-config --libs ncursesw)
endif

ALL_CFLAGS = -std=gnu11 $(OPT) $(HARDEN) $(WARN) $(DEFS) -Isrc -I$(BUILD)/generated -MMD -MP \
             $(SAN) $(CPPFLAGS) $(CFLAGS)
# Numbers come from kernels, files and other processes: none changes on its way unseen.
$(BUILD)/src/%.o: WARN += -Wconversion -Wsign-conversion

PROTO   := $(filter %/pprof.proto,$(shell find src -name '*.proto'))
OBJ     := $(LIBSRC:%.c=$(BUILD)/%.o) $(BUILD)/generated/pprof.pb-c.o

all: $(BUILD)/adaptrace $(BUILD)/libadaptrace-mpi.so $(TARGETS:test/targets/%.c=$(BUILD)/targets/%)

$(BUILD)/adaptrace: $(BUILD)/src/cli/main.o $(OBJ)
	$(CC) $(SAN) $(if $(SAN),,-pie -Wl,-z,relro,-z,now) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# One archive a folder. P: files of two sub-folders may have the same name.
define archive
$(BUILD)/$1.a: $(filter $(BUILD)/src/$1/%,$(OBJ)) $(if $(filter output,$1),$(BUILD)/generated/pprof.pb-c.o)
	rm -f $$@
	$(AR) rcsP $$@ $$^
endef
$(foreach folder,$(FOLDERS),$(eval $(call archive,$(folder))))
ARCHIVES := $(FOLDERS:%=$(BUILD)/%.a)

# Runs inside targets: links with nothing of MPI, and shows nothing but what it stands before.
INSIDE := $(BUILD)/inside/hmb/period.o $(BUILD)/inside/hmb/segment.o
$(BUILD)/libadaptrace-mpi.so: $(PRELOAD:%.c=$(BUILD)/%.o) $(INSIDE)
	$(CC) $(CFLAGS) $(LDFLAGS) -fPIC -shared -Wl,-z,defs -Wl,-soname,libadaptrace-mpi.so \
		-o $@ $^ -pthread -ldl

# Programs of other C libraries load it, too, and do not have what fortified code calls.
COMPILE_INSIDE = $(CC) -std=gnu11 $(OPT) $(WARN) -D_GNU_SOURCE -Isrc -Iinclude -MMD -MP \
		-fvisibility=hidden $(CPPFLAGS) $(CFLAGS) -U_FORTIFY_SOURCE -fPIC -c -o $@ $<
$(BUILD)/src/preload/%.o: src/preload/%.c
	@mkdir -p $(@D)
	$(COMPILE_INSIDE)

$(BUILD)/inside/%.o: src/%.c
	@mkdir -p $(@D)
	$(COMPILE_INSIDE)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/generated/pprof.pb-c.c $(BUILD)/generated/pprof.pb-c.h &: $(PROTO)
	@mkdir -p $(@D)
	protoc-c --c_out=$(@D) --proto_path=$(<D) $<

$(BUILD)/generated/pprof.pb-c.o: $(BUILD)/generated/pprof.pb-c.c
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(PROTO:%.proto=$(BUILD)/%.o): $(BUILD)/generated/pprof.pb-c.h

# A test links what it looks at, and no more.
LINK_TEST = $(CC) $(ALL_CFLAGS) -Itest/unit -o $@ $< \
	-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDFLAGS) $(LDLIBS) -lcmocka
$(BUILD)/unit/%: test/unit/%.c $(ARCHIVES)
	@mkdir -p $(@D)
	$(LINK_TEST)

LINKED_hmb       := base hmb
LINKED_perf      := base perf
LINKED_symbolize := base symbolize
LINKED_trace     := base hmb symbolize trace
LINKED_output    := base hmb symbolize trace output
define unit_tests
$(BUILD)/unit/$1/%: test/unit/$1/%.c $(LINKED_$1:%=$(BUILD)/%.a)
	@mkdir -p $$(@D)
	$$(LINK_TEST)
endef
$(foreach folder,$(patsubst LINKED_%,%,$(filter LINKED_%,$(.VARIABLES))),$(eval $(call unit_tests,$(folder))))

# What runs inside targets, looked at from outside.
PRELOAD_TESTS := $(patsubst test/%.c,$(BUILD)/%,$(wildcard test/unit/preload/*.c))
$(PRELOAD_TESTS): $(PRELOAD:%.c=$(BUILD)/%.o) $(INSIDE)
$(PRELOAD_TESTS): LDLIBS += $(PRELOAD:%.c=$(BUILD)/%.o) $(INSIDE)

# Its own answers instead of the kernel's.
ATTACH_WRAPS := session_open_sampler sampler_close tasks_add_running
$(BUILD)/unit/record/test_attach: LDLIBS += $(ATTACH_WRAPS:%=-Wl,--wrap=%)

$(BUILD)/bench/%: test/bench/%.c $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itest/unit -o $@ $< -Wl,--start-group $(ARCHIVES) -Wl,--end-group $(LDFLAGS) $(LDLIBS)

# make build/fuzz/fuzz_code && build/fuzz/fuzz_code -max_total_time=60      (needs clang; seeds: a folder behind)
$(BUILD)/fuzz/%: test/fuzz/%.c $(LIBSRC) $(BUILD)/generated/pprof.pb-c.c
	@mkdir -p $(@D)
	clang -std=gnu11 -O1 -g $(WARN) $(DEFS) -Isrc -Itest/unit -I$(BUILD)/generated -fsanitize=fuzzer,address,undefined \
		-o $@ $^ $(LDLIBS)

$(BUILD)/targets/%: test/targets/%.c $(wildcard test/targets/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g -fno-omit-frame-pointer -Wno-unknown-attributes -D_GNU_SOURCE \
		-o $@ $< -pthread -lm

# Tests build it themselves, for each MPI that is installed.
$(BUILD)/targets/iterate: test/mpi/iterate.c
	@mkdir -p $(@D)
	mpicc -std=gnu11 -O2 -g -o $@ $<

$(BUILD)/targets/%: test/targets/%.cc
	@mkdir -p $(@D)
	$(CXX) -std=gnu++17 -O2 -g -o $@ $<

$(BUILD)/targets/%: test/targets/%.rs
	@mkdir -p $(@D)
	MAKEFLAGS= $(RUSTC) -O -g -o $@ $<

$(BUILD)/targets/%_static: test/targets/%.c $(wildcard test/targets/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g -static -o $@ $<

# Call frame information in .debug_frame only.
$(BUILD)/targets/%_debug_frame: test/targets/%.c $(wildcard test/targets/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -o $@ $<

$(BUILD)/targets/%_packed: $(BUILD)/targets/%
	$(OBJCOPY) --compress-debug-sections=zlib $< $@

# Return addresses that are signed where the processor can.
$(BUILD)/targets/%_signed: test/targets/%.c $(wildcard test/targets/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g -D_GNU_SOURCE -march=armv8.3-a -mbranch-protection=standard \
		-o $@ $< -pthread

$(BUILD)/hw/%: test/hw/guest/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(OPT) $(WARN) $(CFLAGS) -static -D_GNU_SOURCE -o $@ $<

$(BUILD)/unit/symbolize/test_unwind_step: | $(patsubst %,$(BUILD)/targets/step_%,\
		asm deep deep_debug_frame deep_static stack signal)
$(BUILD)/unit/symbolize/test_cfi: | $(BUILD)/targets/step_deep_debug_frame_packed
# In other languages.
PROGRAMS := $(BUILD)/targets/step_throw $(if $(RUSTC),$(BUILD)/targets/step_panic)
$(BUILD)/unit/symbolize/test_unwind_programs: | $(PROGRAMS)

# All processors, unless make was told how many.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

# -- the two commands of the README ------------------------------------------------------------
demo: | deps-build
	+@MAKE="$(MAKE)" test/build.sh $(JOBS) all
	@test/demo.sh $(BUILD)

check: | deps-check
	+@MAKE="$(MAKE)" test/build.sh $(JOBS) all
	@test/run.sh $(BUILD) $(T)

# Other processors: everything compiles for them without warnings; and arm64 is run, in an emulated
# machine with hardware counters. Packages are cached below $(BUILD)/hw. Skipped, with a word on why,
# where something cannot be had.
check-cross:
	@for arch in arm64 riscv64; do \
		test/hw/cross.sh $(BUILD)/hw $$arch; \
		case $$? in 0) echo "ok      $$arch compiles" ;; 77) ;; *) exit 1 ;; esac; \
	done

check-hw: | deps-build
	@$(MAKE) --no-print-directory all
	@test/hw/run.sh $(BUILD)

print-libraries:
	@echo $(PKGS_LIBS)

# -- the rest ----------------------------------------------------------------------------------
bench: | deps-check
	@$(MAKE) --no-print-directory $(JOBS) all $(BENCH:test/bench/%.c=$(BUILD)/bench/%) $(PROGRAMS)
	@test/bench/run.sh $(BUILD) $(T)

lint: | deps-lint
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@test/lint.sh $(BUILD)

# Debian packages that are missing are installed where that is possible, else named.
deps-build: PKGS = $(PKGS_BUILD)
deps-check: PKGS = $(PKGS_CHECK)
deps-lint:  PKGS = $(PKGS_LINT)
deps-build deps-check deps-lint:
	@test/deps.sh $(PKGS)

# Below $(PREFIX); share/man has a folder for each section.
MANUALS   := $(foreach m,$(wildcard man/*.[15]),share/man/man$(subst .,,$(suffix $m))/$(notdir $m))
MODULES   := $(notdir $(wildcard share/modules/*))
INSTALLED := bin/adaptrace lib/adaptrace/libadaptrace-mpi.so $(wildcard include/*) \
             share/bash-completion/completions/adaptrace $(MANUALS) $(MODULES:%=share/adaptrace/modules/%)
INTO       = "$(DESTDIR)$(PREFIX)"

install: all
	install -D -m 755 $(BUILD)/adaptrace $(INTO)/bin/adaptrace
	install -D -m 644 $(BUILD)/libadaptrace-mpi.so $(INTO)/lib/adaptrace/libadaptrace-mpi.so
	install -D -m 644 src/cli/completion.bash $(INTO)/share/bash-completion/completions/adaptrace
	for f in $(wildcard include/*); do install -D -m 644 $$f $(INTO)/$$f || exit 1; done
	for m in $(MANUALS); do install -D -m 644 man/$${m##*/} $(INTO)/$$m || exit 1; done
	for m in $(MODULES); do install -D -m 755 share/modules/$$m $(INTO)/share/adaptrace/modules/$$m || exit 1; done

uninstall:
	cd $(INTO) && rm -f $(INSTALLED) && rmdir lib/adaptrace share/adaptrace/modules share/adaptrace

clean:
	rm -rf $(BUILD)

# The list at the head of this file.
help:
	@sed -n '/^#/!q; s/^# //p' $(firstword $(MAKEFILE_LIST))

.PHONY: all help demo check check-cross check-hw print-libraries bench lint install uninstall clean \
        deps-build deps-check deps-lint
.SECONDARY:
-include $(SRC:%.c=$(BUILD)/%.d) $(wildcard $(BUILD)/unit/*.d $(BUILD)/unit/*/*.d $(BUILD)/bench/*.d)
