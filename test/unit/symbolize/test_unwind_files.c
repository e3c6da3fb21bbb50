/* Unwinding with files that lie, or change while they are read. */
#include "cases.h"
#include "unwinding.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

struct shm_image {
	char path[64];
	unsigned char *bytes;
	size_t size;
};

static struct shm_image image_of_the_linker(const struct fixture *fixture)
{
	struct shm_image image = {.path = "/tmp/adaptrace-unwind-XXXXXX"};
	struct module *module = NULL;
	struct stat st;
	size_t i;
	int fd;

	for (i = 1; i < module_table_count(fixture->modules); i++) {
		module = module_table_get(fixture->modules, (uint16_t)i);
		if (strstr(module->path, "/ld-linux"))
			break;
	}
	fd = module_fd(fixture->modules, module);
	assert_int_equal(fstat(fd, &st), 0);
	image.size = (size_t)st.st_size;
	image.bytes = malloc(image.size);
	assert_int_equal(pread(fd, image.bytes, image.size, 0), st.st_size);
	fd = mkstemp(image.path);
	assert_true(fd >= 0);
	close(fd);
	return image;
}

/* Damage is done where it hurts: in the headers, and to the tables and entries they lead to. */
static void image_damage(const struct shm_image *image, unsigned char *bytes)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr = {0};
	unsigned i, nr = 1 + (unsigned)rand() % 64;
	size_t from, span;

	memcpy(&ehdr, image->bytes, sizeof(ehdr));
	for (i = 0; i < ehdr.e_phnum && phdr.p_type != PT_GNU_EH_FRAME; i++)
		memcpy(&phdr, image->bytes + ehdr.e_phoff + i * sizeof(phdr), sizeof(phdr));
	if (rand() % 4 == 0) {
		from = 16;
		span = ehdr.e_phoff + ehdr.e_phnum * sizeof(phdr);
	} else {
		from = phdr.p_offset;
		span = phdr.p_filesz * (1 + (size_t)rand() % 4);
	}
	assert_true(span > 0);
	while (nr-- > 0)
		bytes[from + (size_t)rand() % span] = (unsigned char)(rand() % 2 ? rand() : 0xff);
}

static void image_write(const struct shm_image *image, const unsigned char *bytes, size_t size)
{
	int fd = open(image->path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static struct module *image_module(const struct shm_image *image, struct module_table *modules)
{
	struct module_file file = {.path = image->path, .pid = getpid()};
	struct stat st;

	assert_int_equal(stat(image->path, &st), 0);
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	return module_table_file(modules, &file);
}

/* A space where nothing but the image is mapped; stack words lead into it. */
static void image_walk(struct fixture *fixture, const struct shm_image *image,
                       struct module *module)
{
	struct mapping mapping = {0x100000, 0x100000 + image->size, 0x100000, module};
	uint64_t regs[NR_REGS], stack[128];
	struct unwind_sample sample = {regs, (unsigned char *)stack, sizeof(stack), false, 1};
	struct chain chain;
	unsigned i, j;

	assert_true(image->size > 0);
	space_clear(fixture->space);
	assert_int_equal(space_map(fixture->space, &mapping), 0);
	for (i = 0; i < 40; i++) {
		for (j = 0; j < NR_REGS; j++)
			regs[j] = rand() % 2 ? 0x100000 + random_word() % image->size
			                     : 0x7000 + random_word() % sizeof(stack);
		for (j = 0; j < 128; j++)
			stack[j] = rand() % 2 ? 0x100000 + random_word() % image->size
			                      : 0x7000 + random_word() % sizeof(stack);
#if defined(__x86_64__)
		regs[7] = 0x7000;
#else
		regs[31] = 0x7000;
#endif
		walk(fixture, &sample, &chain);
	}
}

static void damaged_files_do_no_harm(void **state)
{
	struct shm_image image = image_of_the_linker(*state);
	unsigned char *bytes = malloc(image.size);
	void *fresh;
	unsigned i;

	srand(4);
	for (i = 0; i < ROUNDS(300); i++) {
		memcpy(bytes, image.bytes, image.size);
		image_damage(&image, bytes);
		image_write(&image, bytes, rand() % 8 ? image.size : (size_t)rand() % image.size);
		setup(&fresh);
		image_walk(fresh, &image, image_module(&image, ((struct fixture *)fresh)->modules));
		teardown(&fresh);
	}
	unlink(image.path);
	free(image.bytes);
	free(bytes);
}

/* The owner of a file may cut it off while we read it. */
static void file_may_shrink_under_us(void **state)
{
	struct fixture *fixture = *state;
	struct shm_image image = image_of_the_linker(fixture);
	struct module *module;
	int size;

	image_write(&image, image.bytes, image.size);
	module = image_module(&image, fixture->modules);
	assert_true(module && module->nr_segments > 0);
	for (size = (int)image.size; size > 0; size -= 5000) {
		image_walk(fixture, &image, module);
		assert_int_equal(truncate(image.path, size), 0);
	}
	image_walk(fixture, &image, module);
	unlink(image.path);
	free(image.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(damaged_files_do_no_harm),
		TEST(file_may_shrink_under_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
