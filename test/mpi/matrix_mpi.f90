! The same as matrix.c, by the module mpi.
program matrix
  use mpi
  implicit none
  integer :: requests(2)
  integer :: half
  include 'matrix.inc'
end program
