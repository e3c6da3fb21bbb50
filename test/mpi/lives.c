/*
 * lives: initialized by MPI_Init, says the thread level that it got, sends a message to the next
 * rank, and becomes another program, which has a region and waits for those of the other ranks:
 * MPICH 4.2 kills what is left of a job when one of them ends.
 */
#include <adaptrace.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each adds a byte to a file. */
static void await_others(int size)
{
	int fd = open("living", O_WRONLY | O_APPEND | O_CREAT, 0600);
	struct stat file = {0};

	write(fd, "", 1);
	while (!fstat(fd, &file) && file.st_size < size)
		usleep(1000);
}

int main(int argc, char **argv)
{
	int rank, size, level, x = 0;
	char living[16];

	if (argc > 1) {
		ADAPTRACE_MARK("another life");
		await_others(atoi(argv[1]));
		return 0;
	}
	MPI_Init(&argc, &argv);
	MPI_Query_thread(&level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 5, (rank + size - 1) % size, 5,
	                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	printf("level %d\n", level);
	fflush(stdout);
	snprintf(living, sizeof(living), "%d", size);
	execl(argv[0], argv[0], living, (char *)NULL);
	return 1;
}
