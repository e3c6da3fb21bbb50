/*
 * The place of a file to be written: a name in a folder, which is held open, so that nothing that
 * is renamed or linked on the way there meanwhile leads elsewhere.
 *
 * A folder is shared where a user other than the process's own and root owns it or may write to it.
 * Whatever has a name in a shared folder may be a trap: a link to any file of ours, or a pipe that
 * hands out what is written to it, or that nobody ever reads. Only regular files are replaced
 * there, and nothing that exists is written to. This is the rule of the last name of a path alone:
 * links to folders on the way are the caller's.
 */
#ifndef BASE_FILE_PLACE_H
#define BASE_FILE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct file_place {
	int folder; /* O_PATH; -1: none */
	char *name; /* no link, unless it is one to an open descriptor, in /proc */
	bool shared;
};

/*
 * The place that a path stands for, behind links that the name itself is; it need not exist. 0 or
 * -errno: -ELOOP for a link in a shared folder.
 */
int file_place_open(struct file_place *place, const char *path);
/* The same, where the name itself may be a link, which is not followed. */
int file_place_open_unfollowed(struct file_place *place, const char *path);
/* The same of a path whose folder must have no link on its way, either. */
int file_place_open_exact(struct file_place *place, const char *path);
void file_place_close(struct file_place *place);

/* What has the name; the link itself if that is one. 0 or -errno. */
int file_place_stat(const struct file_place *place, struct stat *there);
/*
 * Whether the name may be used for output: 0, -EISDIR, or in shared folders -ELOOP for a link and
 * -ENXIO for a pipe, a device or a socket. *there is what has the name, with st_mode 0 for nothing.
 */
int file_place_check(const struct file_place *place, struct stat *there);

/* Its path from the root on, without links; or, where that cannot be had, -errno. */
int file_place_path(const struct file_place *place, char *path, size_t size);

#define FILE_PLACE_HIDDEN_SIZE 32
/* A name that nobody can guess, for a file that is not whole yet. */
void file_place_hidden_name(char name[FILE_PLACE_HIDDEN_SIZE]);

/* A new folder of a hidden name that is ours alone: a descriptor, or -errno. */
int file_place_make_folder(int parent, char name[FILE_PLACE_HIDDEN_SIZE]);

#endif
