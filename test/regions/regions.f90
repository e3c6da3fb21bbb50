program regions
  use adaptrace
  implicit none
  integer :: i

  do i = 1, 10
    call adaptrace_begin('outer')
    call adaptrace_begin('inner ')
    call adaptrace_value('number', i)
    call adaptrace_end('inner')
    call adaptrace_value('half', 0.5d0 * i)
    call adaptrace_end('outer')
  end do
  call adaptrace_mark('done')
end program
