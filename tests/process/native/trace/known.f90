! Calls of Fortran whose trace is known beforehand.
program known
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, ranks, error, right, left, found, sum, one, i
  double precision :: data(100), other(100)
#ifdef F08
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: turned
#else
  integer :: requests(2), turned
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  data = 1
  call MPI_Sendrecv(data, 100, MPI_DOUBLE_PRECISION, right, 0, other, 100, MPI_DOUBLE_PRECISION, left, 0, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Irecv(other, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(data, 50, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  do i = 1, 2
    call MPI_Irecv(other, 100, MPI_DOUBLE_PRECISION, left, 1 + i, MPI_COMM_WORLD, requests(i), error)
  end do
  call MPI_Send(data, 10, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, error)
  call MPI_Waitany(2, requests, found, MPI_STATUS_IGNORE, error)
  call MPI_Send(data, 11, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, error)
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE, error)
  one = 1
  call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 20, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, turned, error)
  call MPI_Bcast(data, 3, MPI_DOUBLE_PRECISION, 0, turned, error)
  call MPI_Comm_free(turned, error)
  call MPI_Finalize(error)
end program known
