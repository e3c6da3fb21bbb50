"""counter.py MPICC: the source of a library, for standard output, that stands before MPI and counts
every function that mpi.h knows, and the messages between ranks; it shares nothing with what records.
At the end of each process COUNTS.RANK, of the environment, has

    CALL NUMBER                    as often as it returned
    > PEER MESSAGES BYTES          what was sent to this rank of MPI_COMM_WORLD
"""
import re
import subprocess
import sys
import tempfile

with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
    file.write("#include <mpi.h>\n")
    file.flush()
    header = subprocess.run([sys.argv[1], "-E", "-P", file.name], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
found = {}
for name, args in re.findall(r"\bint\s+MPI_([A-Z]\w*)\s*\(([^;{]*?)\)\s*(?:__attribute__[^;]*)?;",
                             header):
    parameters = [] if args.strip() in ("", "void") else [a.strip() for a in args.split(",")]
    names = [re.search(r"(\w+)\s*(?:\[[^]]*\])*$", p) for p in parameters]
    # No functions as arguments, as many as it says, and nothing of the library for Fortran.
    if all(names) and "(" not in args and "f08" not in name:
        found[name] = args, [n.group(1) for n in names]
print("""#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MOST 64
static unsigned long calls[1000], messages[MOST], bytes[MOST];

/* What is called in order to count is nobody else's business. */
static void *real(const char *name)
{
	void *library = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);

	return dlsym(library ? library : dlopen("libmpich.so.12", RTLD_LAZY | RTLD_NOLOAD), name);
}

static int world_rank(MPI_Comm comm, int rank)
{
	int (*group_of)(MPI_Comm, MPI_Group *) = real("PMPI_Comm_group");
	int (*group_free)(MPI_Group *) = real("PMPI_Group_free");
	MPI_Group group, world;
	int found;

	group_of(comm, &group);
	group_of(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(group, 1, &rank, world, &found);
	group_free(&group);
	group_free(&world);
	return found;
}

static void sent(MPI_Comm comm, int dest, long count, MPI_Datatype type)
{
	int size, peer;

	if (dest == MPI_PROC_NULL)
		return;
	PMPI_Type_size(type, &size);
	peer = world_rank(comm, dest);
	messages[peer]++;
	bytes[peer] += count * size;
}
""")
for i, (name, (args, names)) in enumerate(sorted(found.items())):
    count = ("sendcount", "sendtype") if "sendcount" in names else ("count", "datatype")
    is_send = "dest" in names and not name.endswith("_init") and set(count) < set(names)
    print(f"int MPI_{name}({args})\n{{")
    if name == "Finalize":
        print(f"\tvoid finish(void);\n\tcalls[{i}] = 1;\n\tfinish();")
    print(f"\tint returned = PMPI_{name}({', '.join(names)});\n\tcalls[{i}]++;")
    if is_send:
        print(f"\tif (!returned)\n\t\tsent(comm, dest, {count[0]}, {count[1]});")
    print("\treturn returned;\n}")
print("static const char *const names[] = {"
      + ",".join(f'"MPI_{name}"' for name in sorted(found)) + "};")
print("""
void finish(void)
{
	char path[4096];
	FILE *to;
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(path, sizeof(path), "%s.%d", getenv("COUNTS"), rank);
	to = fopen(path, "w");
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (calls[i])
			fprintf(to, "%s %lu\\n", names[i], calls[i]);
	for (int i = 0; i < MOST; i++)
		if (messages[i])
			fprintf(to, "> %d %lu %lu\\n", i, messages[i], bytes[i]);
	fclose(to);
}""")
