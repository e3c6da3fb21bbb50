! The same as matrix.c, by mpif.h.
program matrix
  implicit none
  include 'mpif.h'
  integer :: requests(2)
  integer :: half
  include 'matrix.inc'
end program
