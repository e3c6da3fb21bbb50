! What a program can tell `adaptrace record --mpi` about itself. Compile this file with yours, and
! nothing need be linked. See adaptrace.h for what the calls mean:
!
!     use adaptrace
!     call adaptrace_begin('solve')
!     call adaptrace_end('solve')
!     call adaptrace_mark('checkpoint')
!     call adaptrace_value('residual', r)
!
! Without a recorder each is a call that compares and returns.
module adaptrace
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: adaptrace_begin, adaptrace_end, adaptrace_mark, adaptrace_value

  integer(c_int), parameter :: region_kind = 0, marker_kind = 1, value_kind = 2

  ! struct adaptrace_hooks
  type, bind(C) :: hooks_type
    type(c_funptr) :: site, begin, end, mark, value
  end type

  abstract interface
    function site_function(name, length, kind) bind(C)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: length, kind
      type(c_ptr) :: site_function
    end function
    subroutine site_hook(site) bind(C)
      import
      type(c_ptr), value :: site
    end subroutine
    subroutine value_hook(site, number) bind(C)
      import
      type(c_ptr), value :: site
      real(c_double), value :: number
    end subroutine
  end interface

  interface
    function dlsym(handle, name) bind(C, name='dlsym')
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr) :: dlsym
    end function
  end interface

  interface adaptrace_value
    module procedure value_double, value_single, value_integer
  end interface

  logical, save :: absent = .false.
  type(hooks_type), pointer, save :: hooks => null()

contains

  logical function on()
    type(c_ptr) :: found

    on = .false.
    if (absent) return
    if (.not. associated(hooks)) then
      found = dlsym(c_null_ptr, 'adaptrace_hooks_1' // c_null_char)
      absent = .not. c_associated(found)
      if (absent) return
      call c_f_pointer(found, hooks)
    end if
    on = .true.
  end function

  type(c_ptr) function site_of(name, kind)
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: kind
    procedure(site_function), pointer :: site

    call c_f_procpointer(hooks%site, site)
    site_of = site(name, int(len_trim(name), c_int), kind)
  end function

  subroutine adaptrace_begin(name)
    character(len=*), intent(in) :: name
    procedure(site_hook), pointer :: hook

    if (.not. on()) return
    call c_f_procpointer(hooks%begin, hook)
    call hook(site_of(name, region_kind))
  end subroutine

  subroutine adaptrace_end(name)
    character(len=*), intent(in) :: name
    procedure(site_hook), pointer :: hook

    if (.not. on()) return
    call c_f_procpointer(hooks%end, hook)
    call hook(site_of(name, region_kind))
  end subroutine

  subroutine adaptrace_mark(name)
    character(len=*), intent(in) :: name
    procedure(site_hook), pointer :: hook

    if (.not. on()) return
    call c_f_procpointer(hooks%mark, hook)
    call hook(site_of(name, marker_kind))
  end subroutine

  subroutine value_double(name, number)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: number
    procedure(value_hook), pointer :: hook

    if (.not. on()) return
    call c_f_procpointer(hooks%value, hook)
    call hook(site_of(name, value_kind), number)
  end subroutine

  subroutine value_single(name, number)
    character(len=*), intent(in) :: name
    real(c_float), intent(in) :: number

    call value_double(name, real(number, c_double))
  end subroutine

  subroutine value_integer(name, number)
    character(len=*), intent(in) :: name
    integer, intent(in) :: number

    call value_double(name, real(number, c_double))
  end subroutine
end module
