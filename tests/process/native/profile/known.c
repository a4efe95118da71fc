/* Calls whose profile is known beforehand. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void nap(double seconds)
{
	struct timespec for_so_long = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	nanosleep(&for_so_long, NULL);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank, ranks;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	char *data = calloc(1, 100000);
	if (argc > 1 && strcmp(argv[1], "dies") == 0 && rank == ranks - 1) {
		raise(SIGKILL);
	}
	const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	for (int i = 0; i < 10; i++) { /* 10 messages of 1000 B */
		MPI_Request request;
		MPI_Isend(data, 1000, MPI_BYTE, right, 0, MPI_COMM_WORLD, &request);
		MPI_Recv(data + 50000, 1000, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	/* 3 messages of 800 B on a communicator turned round, one of nothing, one to nobody */
	MPI_Comm turned;
	MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &turned);
	int place;
	MPI_Comm_rank(turned, &place);
	for (int i = 0; i < 3; i++) {
		double numbers[100] = {0}, others[100];
		MPI_Sendrecv(numbers, 100, MPI_DOUBLE, (place + 1) % ranks, 1, others, 100, MPI_DOUBLE,
			     (place + ranks - 1) % ranks, 1, turned, MPI_STATUS_IGNORE);
	}
	MPI_Comm_free(&turned);
	MPI_Sendrecv(data, 0, MPI_BYTE, right, 2, data + 50000, 0, MPI_BYTE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(data, 10, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	/* what may not be looked at: the root's own count and type */
	int *all = calloc((size_t)ranks, sizeof(int));
	MPI_Gather(rank == 0 ? MPI_IN_PLACE : &rank, 1, rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, all, 1, MPI_INT, 0,
		   MPI_COMM_WORLD);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Bcast(data, 4096, MPI_BYTE, 0, MPI_COMM_SELF);
	if (rank == 0) { /* the others wait for it */
		nap(0.3);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	free(all);
	free(data);
	MPI_Finalize();
	return 0;
}
