/*
 * files FOLDER: the same file opened twice by all ranks together, each rank's own file, transfers
 * of all sorts, one of them shorter than was asked for.
 */
#include <mpi.h>
#include <stdio.h>

static int a[100];

static void shared_file(const char *path, int rank, int size)
{
	MPI_Request request;
	MPI_File file;

	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
	              &file);
	MPI_File_write_at_all(file, 40 * rank, a, 10, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
	MPI_File_read_at(file, 40 * size - 8, a, 10, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_iread_at(file, 0, a, 5, MPI_INT, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_File_read_at_all_begin(file, 0, a, 4, MPI_INT);
	MPI_File_read_at_all_end(file, a, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
}

static void own_file(const char *folder, int rank)
{
	char path[512];
	MPI_Request requests[2];
	MPI_File file;
	int done = 0;

	snprintf(path, sizeof(path), "%s/own.%d", folder, rank);
	MPI_File_open(MPI_COMM_SELF, path,
	              MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
	              &file);
	MPI_File_write(file, a, 1 + rank, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_iwrite_at(file, 4, a, 20, MPI_INT, &requests[0]);
	MPI_File_iwrite_at(file, 84, a, 30, MPI_INT, &requests[1]);
	while (!done)
		MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_File_close(&file);
}

int main(int argc, char **argv)
{
	char path[512];
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(path, sizeof(path), "%s/shared", argv[1]);
	shared_file(path, rank, size);
	own_file(argv[1], rank);
	MPI_Finalize();
	return 0;
}
