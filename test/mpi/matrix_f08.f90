! The same as matrix.c, by the module mpi_f08.
program matrix
  use mpi_f08
  implicit none
  integer :: rank, size, left, right, i, got, sum, ierror
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: half
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  do i = 1, 10
    call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(rank, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    if (got /= left) error stop 'wrong message'
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 6, got, 1, MPI_INTEGER, left, 6, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    sum = 1
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (sum /= size) error stop 'wrong sum'
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierror)
  call MPI_Bcast(sum, 1, MPI_INTEGER, 0, half, ierror)
  call MPI_Comm_free(half, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
end program
