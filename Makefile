# heapprof: build, install, tests. `make help` lists the targets.
#
# Everything built lies under build/ (BUILD=). Sources are found by wildcard per folder; header
# dependencies are generated; a change of compiler or flags rebuilds. No recursion, but for demo,
# check and the like, which first install packages that the build itself needs.

VERSION := 0.1.0
BUILD ?= build
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. -I$(BUILD) -DHEAPPROF_VERSION='"$(VERSION)"' \
             $(WARNINGS) $(EXTRA_CFLAGS)
DEPFLAGS = -MMD -MP
COMMAND_LIBS := -ldwarf -lprotobuf-c -lz -liberty -lzstd -llzma -lpthread
RUNTIME_CFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector \
                  -fexceptions -fasynchronous-unwind-tables -mcx16
RUNTIME_LDFLAGS := -shared -Wl,-soname,libheapprof.so -Wl,-z,initfirst,-z,now,-z,nodelete

PROTO_SOURCES := $(wildcard proto/*.c)
SYMBOLIZE_SOURCES := $(wildcard symbolize/*.c)
CLI_SOURCES := $(wildcard cli/*.c)
RUNTIME_SOURCES := $(wildcard runtime/*.c)
UNIT_TEST_SOURCES := $(wildcard tests/*/*_test.c)
TARGET_SOURCES := $(wildcard tests/targets/*.c)
BENCH_SOURCES := $(wildcard tests/bench/*.c)
BATS_FILES := $(wildcard tests/*/*.bats)
SHELL_FILES := .ci/run tests/run $(wildcard tests/*.sh tests/*/*.sh tests/*/*.bash share/*/*.sh)

# Objects of a folder, compiled into the folder $(1).
proto_objects = $(PROTO_SOURCES:%.c=$(1)/%.o) $(1)/proto/profile.pb-c.o
symbolize_objects = $(SYMBOLIZE_SOURCES:%.c=$(1)/%.o)
cli_objects = $(CLI_SOURCES:%.c=$(1)/%.o)
command_objects = $(cli_objects) $(symbolize_objects) $(proto_objects)
runtime_objects = $(RUNTIME_SOURCES:%.c=$(1)/%.o)

# For the build that demo and check start: on all processors, unless the caller has said how many.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(nproc))

# One line for each step; V=1 shows the commands instead, -s nothing.
ifeq ($(V),1)
Q :=
else
Q := @
say = $(if $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),,@printf '%-9s%s\n' '$(1)' '$(2)')
endif

ifneq ($(words $(BUILD)),1)
$(error BUILD must be one word without spaces)
endif

.PHONY: all install uninstall demo picture check bench format lint asan fuzz help clean FORCE
.DELETE_ON_ERROR:
all: $(BUILD)/heapprof $(BUILD)/libheapprof.so $(BUILD)/libheapprof-mimalloc.so ## build the command and its runtime (the default)

# --- what must hold before anything is compiled ---------------------------------------------

$(BUILD)/packages: tests/packages.txt
	@[ "$$(uname -s) $$(uname -m)" = "Linux x86_64" ] || \
		{ echo "heapprof: only for Linux on x86-64, not $$(uname -s) on $$(uname -m)" >&2; exit 1; }
	@sh tests/packages.sh check build
	@mkdir -p $(@D) && touch $@

# Rewritten only when their text changes: a change of flags rebuilds what they reach, a source that
# came or went relinks.
$(BUILD)/flags: export STAMP = $(CC) $(ALL_CFLAGS) $(CFLAGS) $(RUNTIME_CFLAGS) $(LDFLAGS)
$(BUILD)/sources: export STAMP = $(PROTO_SOURCES) $(SYMBOLIZE_SOURCES) $(CLI_SOURCES) $(RUNTIME_SOURCES)
$(BUILD)/flags $(BUILD)/sources: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$$STAMP" | cmp -s - $@ || printf '%s\n' "$$STAMP" >$@

# --- generated sources ----------------------------------------------------------------------

$(BUILD)/proto/profile.pb-c.h $(BUILD)/proto/profile.pb-c.c &: proto/profile.proto | $(BUILD)/packages
	$(call say,generate,$(BUILD)/proto/profile.pb-c.c)
	@mkdir -p $(@D)
	$(Q)protoc-c --proto_path=proto --c_out=$(BUILD)/proto profile.proto

# The flamegraph's style and script as C bytes: the command carries them.
SHARE_BYTES := $(patsubst %,$(BUILD)/%.inc,$(wildcard share/*.css share/*.js))
$(SHARE_BYTES): $(BUILD)/%.inc: %
	$(call say,generate,$@)
	@mkdir -p $(@D)
	$(Q)od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g' >$@

GENERATED := $(BUILD)/proto/profile.pb-c.h $(SHARE_BYTES)

# --- objects: $(1) folder they go to, $(2) compiler, $(3) flags ------------------------------

define compile_rules
$(1)/runtime/%.o: runtime/%.c $(BUILD)/flags | $(BUILD)/packages
	@mkdir -p $$(@D)
	$$(call say,compile,$$<)
	$$(Q)$(2) $$(ALL_CFLAGS) $(3) $$(RUNTIME_CFLAGS) $$(DEPFLAGS) -c -o $$@ $$<

$(1)/%.o: %.c $(BUILD)/flags | $(BUILD)/packages $(GENERATED)
	@mkdir -p $$(@D)
	$$(call say,compile,$$<)
	$$(Q)$(2) $$(ALL_CFLAGS) $(3) $$(DEPFLAGS) -c -o $$@ $$<

$(1)/proto/profile.pb-c.o: $(BUILD)/proto/profile.pb-c.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,compile,$$<)
	$$(Q)$(2) $$(ALL_CFLAGS) $(3) -Wno-conversion -Wno-shadow -Wno-missing-prototypes $$(DEPFLAGS) \
		-c -o $$@ $$<
endef

ASAN := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
$(eval $(call compile_rules,$(BUILD),$$(CC),$$(CFLAGS)))
$(eval $(call compile_rules,$(BUILD)/asan,gcc,$(ASAN)))
$(eval $(call compile_rules,$(BUILD)/lint/gcc,gcc,-O2 -Werror))
$(eval $(call compile_rules,$(BUILD)/lint/clang,clang,-O2 -Werror))

# --- what is delivered ----------------------------------------------------------------------

$(BUILD)/heapprof: $(call command_objects,$(BUILD)) $(BUILD)/sources
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(COMMAND_LIBS)

$(BUILD)/libheapprof.so: $(call runtime_objects,$(BUILD)) $(BUILD)/sources
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(RUNTIME_LDFLAGS) -o $@ $(filter %.o,$^)

# A private copy under a name of its own: by the usual name, the loader would hand out the
# instance that a target may be using itself.
$(BUILD)/libheapprof-mimalloc.so: | $(BUILD)/packages
	$(call say,copy,$@)
	$(Q)cp "$$($(CC) -print-file-name=libmimalloc.so)" $@.tmp
	$(Q)patchelf --set-soname $(@F) $@.tmp
	$(Q)mv $@.tmp $@

install: all ## install to PREFIX (/usr/local), below DESTDIR when that is set
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/lib/heapprof'
	install -m 755 $(BUILD)/heapprof '$(DESTDIR)$(PREFIX)/bin/heapprof'
	install -m 644 $(BUILD)/libheapprof.so $(BUILD)/libheapprof-mimalloc.so '$(DESTDIR)$(PREFIX)/lib/heapprof/'

uninstall: ## remove what install put there
	rm -f '$(DESTDIR)$(PREFIX)/bin/heapprof'
	rm -rf '$(DESTDIR)$(PREFIX)/lib/heapprof'

# --- demo -----------------------------------------------------------------------------------

# Packages come first, the build after them: hence the call of this file.
demo: ## install what is needed, build, profile an example, show where its memory goes
	@sh tests/packages.sh install build
	@echo 'building heapprof and the example'
	@$(MAKE) --no-print-directory -s $(PARALLEL) all $(BUILD)/examples/bookshop
	@sh share/examples/demo.sh $(BUILD)

picture: all $(BUILD)/examples/bookshop ## redraw the README's picture, share/doc/flame.svg
	@sh share/examples/demo.sh $(BUILD) share/doc/flame.svg

$(BUILD)/examples/%: share/examples/%.c $(BUILD)/flags | $(BUILD)/packages
	@mkdir -p $(@D)
	$(call say,compile,$<)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -o $@ $< -pthread

# --- tests ----------------------------------------------------------------------------------

# A folder's unit tests are linked with what the folder may use, but for main.
objects_for_proto = $(proto_objects)
objects_for_symbolize = $(symbolize_objects) $(proto_objects)
objects_for_cli = $(filter-out %/cli/main.o,$(command_objects))

define unit_test_rules
$(patsubst %.c,$(1)/%,$(wildcard tests/$(2)/*_test.c)): $(1)/%: $(1)/%.o $(call objects_for_$(2),$(1))
	$$(call say,link,$$@)
	$$(Q)$(CC) $(3) $$(LDFLAGS) -o $$@ $$^ -lcmocka $$(COMMAND_LIBS)
endef
$(foreach folder,proto symbolize cli,\
    $(eval $(call unit_test_rules,$(BUILD),$(folder),$$(CFLAGS)))\
    $(eval $(call unit_test_rules,$(BUILD)/asan,$(folder),$(ASAN))))

# The runtime's are linked with what they call of it and no more: a test keeps its own malloc.
RUNTIME_INTERPOSED := $(patsubst %,$(BUILD)/runtime/%.o,hook_entry hook_malloc hook_new dlclose thread_name)
$(patsubst %.c,$(BUILD)/%,$(wildcard tests/runtime/*_test.c)): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/runtime/hooks.a
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka -Wl,--as-needed -lunwind -lpthread -lm

$(BUILD)/runtime/hooks.a: $(filter-out $(RUNTIME_INTERPOSED),$(call runtime_objects,$(BUILD))) $(BUILD)/sources
	$(call say,archive,$@)
	$(Q)rm -f $@
	$(Q)ar rcs $@ $(filter %.o,$^)

$(BUILD)/tests/targets/%: tests/targets/%.c $(BUILD)/flags | $(BUILD)/packages
	@mkdir -p $(@D)
	$(call say,compile,$<)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -I. -O1 -g -Wall -Wextra $(DEPFLAGS) -o $@ $< -pthread

UNIT_TESTS := $(UNIT_TEST_SOURCES:%.c=$(BUILD)/%)
ASAN_TESTS := $(patsubst %.c,$(BUILD)/asan/%,$(filter tests/proto/% tests/symbolize/% tests/cli/%,$(UNIT_TEST_SOURCES)))
TARGETS := $(TARGET_SOURCES:%.c=$(BUILD)/%)

$(BUILD)/asan/heapprof: $(call command_objects,$(BUILD)/asan)
	$(call say,link,$@)
	$(Q)$(CC) $(ASAN) $(LDFLAGS) -o $@ $^ $(COMMAND_LIBS)

# The sanitized command finds its runtime beside itself, as any command does.
$(BUILD)/asan/libheapprof%: $(BUILD)/libheapprof%
	@mkdir -p $(@D)
	$(Q)ln -sf ../$(@F) $@

ASAN_COMMAND := $(BUILD)/asan/heapprof $(BUILD)/asan/libheapprof.so $(BUILD)/asan/libheapprof-mimalloc.so

# What runs sanitized: the unit tests of the command's side, and what a user does with the command.
ASAN_RUNS = $(ASAN_TESTS) $(addprefix asan:,$(filter tests/cli/%,$(BATS_FILES)))

.PHONY: test-programs
test-programs: all $(UNIT_TESTS) $(ASAN_TESTS) $(TARGETS) $(ASAN_COMMAND) $(BUILD)/examples/bookshop

check: ## install what is needed, build, run every test; the last line is the count
	@sh tests/packages.sh install build check
	@echo 'building heapprof and its tests'
	@$(MAKE) --no-print-directory -s $(PARALLEL) test-programs
	@tests/run $(BUILD) $(BATS_FILES) $(UNIT_TESTS) $(ASAN_RUNS)

asan: all $(ASAN_TESTS) $(TARGETS) $(ASAN_COMMAND) ## run the command's tests under ASan and UBSan
	@tests/run $(BUILD) $(ASAN_RUNS)

bench: ## measure the overhead, beside its targets and other profilers (15 minutes; wants a quiet machine)
	@sh tests/packages.sh install build bench
	@sh tests/packages.sh install peers || echo 'going on without these'
	@$(MAKE) --no-print-directory -s $(PARALLEL) all $(BENCH_SOURCES:%.c=$(BUILD)/%)
	@sh tests/bench/run.sh $(BUILD)

$(BUILD)/tests/bench/%: tests/bench/%.c $(BUILD)/flags | $(BUILD)/packages
	@mkdir -p $(@D)
	$(call say,compile,$<)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -o $@ $< -pthread -lm

# The one that calls the runtime itself.
$(BUILD)/tests/bench/stack_walk: tests/bench/stack_walk.c $(BUILD)/runtime/hooks.a $(BUILD)/flags | $(BUILD)/packages
	@mkdir -p $(@D)
	$(call say,compile,$<)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -I. -O2 -g -Wall -Wextra -mcx16 -o $@ $< $(BUILD)/runtime/hooks.a \
		-lcmocka -Wl,--as-needed -lunwind -pthread -lm

# --- fuzzing --------------------------------------------------------------------------------

FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/%_fuzz.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/*_fuzz.c))
FUZZ := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
$(eval $(call compile_rules,$(BUILD)/fuzz/objects,clang,$(FUZZ)))

$(FUZZERS): $(BUILD)/fuzz/%: $(BUILD)/fuzz/objects/tests/fuzz/%_fuzz.o $(call objects_for_cli,$(BUILD)/fuzz/objects)
	$(call say,link,$@)
	$(Q)clang $(FUZZ) -fsanitize=fuzzer -o $@ $^ $(COMMAND_LIBS)

fuzz: $(FUZZERS) ## run each fuzzer for FUZZ_SECONDS (60); findings stay in build/fuzz
	@for fuzzer in $(FUZZERS); do \
		mkdir -p $$fuzzer.corpus && \
		$$fuzzer -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -artifact_prefix=$$fuzzer- $$fuzzer.corpus || exit 1; \
	done

# --- style ----------------------------------------------------------------------------------

C_FILES := $(wildcard proto/*.[ch] symbolize/*.[ch] cli/*.[ch] runtime/*.[ch] tests/*/*.[ch] share/examples/*.[ch])

format: ## lay out every C file as .clang-format says
	clang-format -i $(C_FILES)

LINT_SOURCES := $(PROTO_SOURCES) $(SYMBOLIZE_SOURCES) $(CLI_SOURCES) $(RUNTIME_SOURCES) \
                $(UNIT_TEST_SOURCES) $(TARGET_SOURCES) $(BENCH_SOURCES) \
                $(wildcard tests/fuzz/*.c share/examples/*.c)

lint: $(LINT_SOURCES:%.c=$(BUILD)/lint/gcc/%.o) $(LINT_SOURCES:%.c=$(BUILD)/lint/clang/%.o) ## layout, warnings of gcc and clang, cppcheck, shellcheck
	clang-format --dry-run -Werror $(C_FILES)
	cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
		--inline-suppr --suppress=preprocessorErrorDirective:$(BUILD)/proto/profile.pb-c.h \
		-j2 -I. -I$(BUILD) \
		-D__x86_64__ -DHEAPPROF_VERSION='""' $(PROTO_SOURCES) $(SYMBOLIZE_SOURCES) $(CLI_SOURCES) $(RUNTIME_SOURCES)
	shellcheck --severity=warning $(SHELL_FILES) $(BATS_FILES)

# --- the rest -------------------------------------------------------------------------------

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

clean: ## remove everything built
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
