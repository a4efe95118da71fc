! Calls of Fortran whose profile is known beforehand.
program known
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, ranks, error, i, right, left
  integer :: sum, one
  double precision :: data(100), other(100)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  data = 1
  do i = 1, 5
    call MPI_Sendrecv(data, 100, MPI_DOUBLE_PRECISION, right, 0, other, 100, MPI_DOUBLE_PRECISION, left, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end do
  one = 1
  call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (sum /= ranks) stop 3
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (sum /= ranks * ranks) stop 4
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program known
