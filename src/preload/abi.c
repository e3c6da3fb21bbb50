#include "preload/abi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

struct mpi mpi;
struct abi abi = {.handle_mask = UINTPTR_MAX};

#define MAX_LIBRARIES 8

struct library_names {
	unsigned nr;
	char names[MAX_LIBRARIES][512];
};

static int note_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct library_names *found = arg;
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, "libmpi", 6) != 0 || found->nr == MAX_LIBRARIES ||
	    strlen(info->dlpi_name) >= sizeof(found->names[0]))
		return 0;
	memcpy(found->names[found->nr++], info->dlpi_name, strlen(info->dlpi_name) + 1);
	return 0;
}

/* A library that was opened with RTLD_LOCAL is in no search order, but its name is known. */
static void *hidden_symbol(const char *name)
{
	struct library_names found = {0};

	dl_iterate_phdr(note_library, &found);
	for (unsigned i = 0; i < found.nr; i++) {
		void *library = dlopen(found.names[i], RTLD_LAZY | RTLD_NOLOAD);
		void *symbol = library ? dlsym(library, name) : NULL;

		if (library)
			dlclose(library); /* it stays: another had it open */
		if (symbol)
			return symbol;
	}
	return NULL;
}

static void *library_symbol(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	return symbol ? symbol : hidden_symbol(name);
}

/* An executable may have a copy of the library's object, and then all use that. */
static uintptr_t library_object(const char *name)
{
	void *object = dlsym(RTLD_DEFAULT, name);

	return (uintptr_t)(object ? object : hidden_symbol(name));
}

/* A program may close its plug-ins, and open them again: what we know of the library stays true. */
static void keep_library(void *symbol)
{
	Dl_info info;
	void *library = NULL;

	if (dladdr(symbol, &info))
		library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (library)
		dlclose(library);
}

void *abi_real(const char *call, bool profiling)
{
	char name[64];
	void *symbol;

	snprintf(name, sizeof(name), "%sMPI_%s", profiling ? "P" : "", call);
	symbol = library_symbol(name);
	if (symbol)
		keep_library(symbol);
	return symbol;
}

static void find_functions(void)
{
	static const struct {
		const char *name;
		void *place;
	} functions[] = {
		{"PMPI_Abi_get_version", &mpi.abi_get_version},
		{"PMPI_Cartdim_get", &mpi.cartdim_get},
		{"PMPI_Comm_get_parent", &mpi.comm_get_parent},
		{"PMPI_Comm_group", &mpi.comm_group},
		{"PMPI_Comm_rank", &mpi.comm_rank},
		{"PMPI_Comm_remote_group", &mpi.comm_remote_group},
		{"PMPI_Comm_size", &mpi.comm_size},
		{"PMPI_Comm_test_inter", &mpi.comm_test_inter},
		{"PMPI_Dist_graph_neighbors_count", &mpi.dist_graph_neighbors_count},
		{"PMPI_Get_count_c", &mpi.get_count_c},
		{"PMPI_Get_library_version", &mpi.get_library_version},
		{"PMPI_Graph_neighbors_count", &mpi.graph_neighbors_count},
		{"PMPI_Group_free", &mpi.group_free},
		{"PMPI_Group_from_session_pset", &mpi.group_from_session_pset},
		{"PMPI_Group_rank", &mpi.group_rank},
		{"PMPI_Group_size", &mpi.group_size},
		{"PMPI_Group_translate_ranks", &mpi.group_translate_ranks},
		{"PMPI_Query_thread", &mpi.query_thread},
		{"PMPI_Test_cancelled", &mpi.test_cancelled},
		{"PMPI_Topo_test", &mpi.topo_test},
		{"PMPI_Type_size", &mpi.type_size},
		{"PMPI_Type_size_x", &mpi.type_size_x},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *symbol = library_symbol(functions[i].name);

		memcpy(functions[i].place, &symbol, sizeof(symbol));
	}
}

/* --- types ------------------------------------------------------------------------------------ */

uint64_t abi_known_types[KNOWN_TYPES];

/*
 * Types in these ranges exist as long as the process: addresses in the library and in the
 * executable, which may have copies of the library's objects, or the numbers that the standard
 * defines.
 */
static struct range {
	uintptr_t begin, end;
} lasting[2];

static bool lasts(uintptr_t object)
{
	return (object >= lasting[0].begin && object < lasting[0].end) ||
	       (object >= lasting[1].begin && object < lasting[1].end);
}

/* MPI_Type_size has no result for a size that does not fit into an int. */
static int type_size_int(uintptr_t type, int64_t *size)
{
	int found = 0, err = mpi.type_size ? mpi.type_size(type, &found) : -1;

	*size = found;
	return err;
}

uint64_t abi_type_size(uintptr_t type)
{
	int64_t size = 0;

	if (mpi.type_size_x ? mpi.type_size_x(type, &size) : type_size_int(type, &size))
		return 0;
	if (size < 0)
		return 0;
	if (lasts(type) && size <= UINT16_MAX)
		__atomic_store_n(abi_known_type(type), (uint64_t)type << 16 | (uint64_t)size,
		                 __ATOMIC_RELAXED);
	return (uint64_t)size;
}

static struct range range_of(const struct dl_phdr_info *info)
{
	struct range range = {UINTPTR_MAX, 0};

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;

		if (part->p_type != PT_LOAD)
			continue;
		range.begin = begin < range.begin ? begin : range.begin;
		range.end = end > range.end ? end : range.end;
	}
	return range;
}

static int find_lasting(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t object = *(const uintptr_t *)arg;
	struct range range = range_of(info);

	(void)size;
	if (range.end >> 48) /* an address has no room beside a size */
		return 0;
	if (!*info->dlpi_name)
		lasting[0] = range;
	else if (object >= range.begin && object < range.end)
		lasting[1] = range;
	return 0;
}

/* --- statuses --------------------------------------------------------------------------------- */

#define STANDARD_BYTE 0x247

uint64_t abi_status_bytes(const unsigned char *status)
{
	int64_t bytes = 0;

	if (mpi.get_count_c(status, STANDARD_BYTE, &bytes) || bytes < 0)
		return 0;
	return (uint64_t)bytes;
}

bool abi_status_cancelled(const unsigned char *status)
{
	int cancelled = 0;

	return !mpi.test_cancelled(status, &cancelled) && cancelled;
}

/* --- what differs ----------------------------------------------------------------------------- */

static bool know_open_mpi(void)
{
	abi.pointers = true;
	abi.comm_world = library_object("ompi_mpi_comm_world");
	abi.comm_self = library_object("ompi_mpi_comm_self");
	abi.comm_null = library_object("ompi_mpi_comm_null");
	abi.request_null = library_object("ompi_request_null");
	abi.request_done = library_object("ompi_request_empty");
	dl_iterate_phdr(find_lasting, &abi.request_done);
	abi.request_done_mask = UINTPTR_MAX;
	abi.in_place = 1;
	abi.status_ignore = 0;
	abi.proc_null = -2;
	abi.in_status = 18;
	abi.pending = 19;
	abi.source_at = 0;
	abi.status_size = 24;
	abi.cart = 1;
	abi.graph = 2;
	abi.dist_graph = 3;
	return abi.comm_world && abi.comm_null && abi.request_null;
}

/* MPICH and all that share its ABI: Intel MPI, MVAPICH, Cray MPICH. */
static bool know_mpich(void)
{
	abi.handle_mask = UINT32_MAX;
	abi.comm_world = 0x44000000;
	abi.comm_self = 0x44000001;
	abi.comm_null = 0x04000000;
	abi.request_null = 0x2c000000;
	abi.request_done = 0x6c000000; /* every built-in request; since 3.4 */
	abi.request_done_mask = 0xfc000000;
	abi.in_place = UINTPTR_MAX;
	abi.status_ignore = 1;
	abi.proc_null = -1;
	abi.in_status = 17;
	abi.pending = 18;
	abi.source_at = 8;
	abi.status_size = 20;
	abi.graph = 1;
	abi.cart = 2;
	abi.dist_graph = 3;
	return true;
}

/* Handles that are there from the start are numbers that no object has for an address. */
static bool know_standard(void)
{
	abi.standard = abi.pointers = true;
	lasting[0] = (struct range){0, 4096};
	abi.comm_world = 0x101;
	abi.comm_self = 0x102;
	abi.comm_null = 0x100;
	abi.request_null = 0x180;
	abi.request_done = abi.request_null; /* others that are, the library alone knows */
	abi.request_done_mask = UINTPTR_MAX;
	abi.in_place = 1;
	abi.status_ignore = 0;
	abi.proc_null = -3;
	abi.in_status = 19;
	abi.pending = 18;
	abi.source_at = 0;
	abi.status_size = 32;
	abi.cart = 211;
	abi.graph = 212;
	abi.dist_graph = 213;
	return mpi.get_count_c && mpi.test_cancelled;
}

/* Libraries that know of the standard but have handles of their own say -1. */
static bool is_standard(void)
{
	int major = -1, minor;

	return mpi.abi_get_version && !mpi.abi_get_version(&major, &minor) && major > 0;
}

/* Shortens a version text that may fill a page to "Open MPI v4.1.4" or "MPICH 4.0.2". */
static void tidy(char *version)
{
	static const char prefix[] = "MPICH Version:";
	char *number = version + strlen(prefix);

	version[strcspn(version, ",\n")] = '\0';
	if (strncmp(version, prefix, strlen(prefix)) != 0)
		return;
	number += strspn(number, " \t");
	memmove(version + strlen("MPICH "), number, strlen(number) + 1);
	version[strlen("MPICH")] = ' ';
}

static void find_library(void)
{
	char version[8192] = "";
	int length = 0;

	find_functions();
	if (!mpi.get_library_version || mpi.get_library_version(version, &length))
		return;
	tidy(version);
	snprintf(abi.version, sizeof(abi.version), "%.255s", version);
	abi.open_mpi = strstr(version, "Open MPI");
	if (is_standard())
		abi.found = know_standard();
	else if (abi.open_mpi)
		abi.found = know_open_mpi();
	else if (strstr(version, "MPICH") || strstr(version, "Intel") || strstr(version, "MVAPICH"))
		abi.found = know_mpich();
}

void abi_learn(void)
{
	if (!abi.tried)
		find_library();
	abi.tried = true;
	abi.known = abi.found;
}
