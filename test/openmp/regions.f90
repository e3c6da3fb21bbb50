! Two parallel regions: a loop, and one with a critical section.
program regions
  use omp_lib
  implicit none
  integer :: i, step, total
  real :: sum

  total = 0
  do step = 1, 30
    sum = 0
    !$omp parallel do reduction(+ : sum) schedule(dynamic)
    do i = 1, 100
      sum = sum + real(i)
    end do
    !$omp end parallel do
    !$omp parallel
    !$omp critical
    total = total + 1
    !$omp end critical
    !$omp end parallel
  end do
  print '(i0)', total
end program
