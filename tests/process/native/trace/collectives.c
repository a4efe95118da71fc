/* Collectives of three ranks, on sub-communicators too; the test knows what each rank calls. */
#include <mpi.h>
#include <stdlib.h>

#define RANKS 3

static int data[1000], more[1000];
static int rank;
static const int counts[RANKS] = {1, 2, 3}, places[RANKS] = {0, 1, 3};
static const int ones[RANKS] = {1, 1, 1};

static void blocking(MPI_Comm comm)
{
	MPI_Barrier(comm);
	MPI_Bcast(data, 10, MPI_INT, 1, comm);
	MPI_Reduce(data, more, 11, MPI_INT, MPI_SUM, 2, comm);
	MPI_Allreduce(data, more, 12, MPI_INT, MPI_SUM, comm);
	MPI_Allreduce(MPI_IN_PLACE, more, 13, MPI_INT, MPI_SUM, comm);
	MPI_Scan(data, more, 14, MPI_INT, MPI_SUM, comm);
	MPI_Exscan(data, more, 15, MPI_INT, MPI_SUM, comm);
	MPI_Reduce_scatter_block(data, more, 16, MPI_INT, MPI_SUM, comm);
	MPI_Reduce_scatter(data, more, counts, MPI_INT, MPI_SUM, comm);
	/* what may not be looked at: counts and types that mean nothing here */
	MPI_Gather(rank == 0 ? MPI_IN_PLACE : data, 2, rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, more, 2,
		   rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0, comm);
	MPI_Gatherv(data, counts[rank], MPI_INT, more, rank == 0 ? counts : NULL, rank == 0 ? places : NULL,
		    rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0, comm);
	MPI_Scatter(data, 4, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, more, 4, MPI_INT, 0, comm);
	MPI_Scatterv(data, rank == 0 ? counts : NULL, rank == 0 ? places : NULL,
		     rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, more, counts[rank], MPI_INT, 0, comm);
	MPI_Allgather(data, 5, MPI_INT, more, 5, MPI_INT, comm);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, more, 6, MPI_INT, comm);
	MPI_Allgatherv(data, counts[rank], MPI_INT, more, counts, places, MPI_INT, comm);
	MPI_Alltoall(data, 7, MPI_INT, more, 7, MPI_INT, comm);
	MPI_Alltoallv(data, ones, places, MPI_INT, more, ones, places, MPI_INT, comm);
	const MPI_Datatype types[RANKS] = {MPI_INT, MPI_INT, MPI_INT};
	MPI_Alltoallw(data, ones, places, types, more, ones, places, types, comm);
}

static void others(MPI_Comm comm)
{
	MPI_Request requests[4];
	MPI_Ibarrier(comm, &requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Ibcast(data, 20, MPI_INT, 2, comm, &requests[0]);
	MPI_Iallreduce(data, more, 21, MPI_INT, MPI_SUM, comm, &requests[1]);
	MPI_Ialltoallv(data + 100, ones, places, MPI_INT, more + 100, ones, places, MPI_INT, comm, &requests[2]);
	MPI_Igatherv(data, counts[rank], MPI_INT, more + 200, counts, places, MPI_INT, 1, comm, &requests[3]);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void neighbours(void)
{
	const int size[1] = {RANKS}, round[1] = {1}, next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
	MPI_Comm ring, chain;
	MPI_Cart_create(MPI_COMM_WORLD, 1, size, round, 0, &ring);
	MPI_Neighbor_alltoall(data, 3, MPI_INT, more, 3, MPI_INT, ring);
	MPI_Comm_free(&ring);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &chain);
	const int two = 2, none = 0;
	MPI_Neighbor_alltoallv(data, &two, &none, MPI_INT, more, &two, &none, MPI_INT, chain);
	MPI_Comm_free(&chain);
}

static void communicators(void)
{
	MPI_Comm copy, half, self, turned, between, merged, some;
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(copy, 0, -rank, &turned); /* 2, 1, 0 */
	MPI_Bcast(data, 1, MPI_INT, 0, turned);
	if (rank == 0) {
		MPI_Send(data, 1, MPI_INT, 0, 5, turned);
	} else if (rank == 2) {
		MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, 5, turned, MPI_STATUS_IGNORE);
	}
	MPI_Comm_free(&turned);
	MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, rank, &some); /* 0, 2 */
	if (some != MPI_COMM_NULL) {
		MPI_Barrier(some);
		MPI_Comm_free(&some);
	}
	MPI_Group all, pair;
	const int first[2] = {0, 1};
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 2, first, &pair);
	if (rank < 2) {
		MPI_Comm_create_group(MPI_COMM_WORLD, pair, 3, &half);
		MPI_Barrier(half);
		MPI_Comm_free(&half);
	}
	MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &self); /* 0 | 1, 2 */
	MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 4, &between);
	MPI_Bcast(data, 8, MPI_INT, rank == 0 ? MPI_ROOT : 0, between);
	MPI_Intercomm_merge(between, rank == 0, &merged);
	MPI_Barrier(merged);
	MPI_Barrier(MPI_COMM_SELF);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&between);
	MPI_Comm_free(&self);
	MPI_Comm_free(&copy);
	MPI_Group_free(&pair);
	MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	blocking(MPI_COMM_WORLD);
	others(MPI_COMM_WORLD);
	neighbours();
	communicators();
	MPI_Pcontrol(2);
	MPI_Finalize();
	return 0;
}
