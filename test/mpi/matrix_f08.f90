! The same as matrix.c, by the module mpi_f08.
program matrix
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: half
  include 'matrix.inc'
end program
