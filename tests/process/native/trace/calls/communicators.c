/* Communicators of three ranks, each used by one call, so that it is seen which one it is. */
#include "calls.h"

#define RANKS 3

static void use_and_free(MPI_Comm *comm, int bytes)
{
	if (*comm != MPI_COMM_NULL) {
		MPI_Bcast(in, bytes, MPI_BYTE, 0, *comm);
		MPI_Comm_free(comm);
	}
}

static void copies(void)
{
	MPI_Comm made;
	MPI_Request request;
	MPI_Comm_dup(MPI_COMM_WORLD, &made);
	use_and_free(&made, 1);
	MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made);
	use_and_free(&made, 2);
	MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	use_and_free(&made, 3);
}

static void parts(void)
{
	static const int ends[] = {2, 0};
	MPI_Comm made;
	MPI_Group world, some;
	MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, -rank, &made); /* 2, 0 */
	use_and_free(&made, 4);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
	use_and_free(&made, 5);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, ends, &some);
	MPI_Comm_create(MPI_COMM_WORLD, some, &made);
	use_and_free(&made, 6);
	if (rank != 1) {
		MPI_Comm_create_group(MPI_COMM_WORLD, some, 77, &made);
		use_and_free(&made, 7);
	}
	MPI_Group_free(&some);
	MPI_Group_free(&world);
}

static void topologies(void)
{
	static const int size[] = {1, RANKS}, round[] = {0, 1}, keep[] = {0, 1};
	static const int index[RANKS] = {1, 3, 4}, edges[] = {1, 0, 2, 1};
	MPI_Comm grid, made;
	MPI_Cart_create(MPI_COMM_WORLD, 2, size, round, 0, &grid);
	MPI_Cart_sub(grid, keep, &made);
	use_and_free(&made, 8);
	use_and_free(&grid, 9);
	MPI_Graph_create(MPI_COMM_WORLD, RANKS, index, edges, 0, &made);
	use_and_free(&made, 10);
	const int one = 1, next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
	use_and_free(&made, 11);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &made);
	use_and_free(&made, 12);
}

/* One that no recorded call makes, as by a library that calls PMPI; messages on one that is freed too early. */
static void others(void)
{
	MPI_Comm found, made;
	MPI_Request request;
	PMPI_Comm_dup(MPI_COMM_WORLD, &found);
	use_and_free(&found, 13);
	MPI_Comm_dup(MPI_COMM_SELF, &made);
	MPI_Irecv(in, 14, MPI_BYTE, MPI_ANY_SOURCE, 14, made, &request);
	MPI_Send(out, 14, MPI_BYTE, 0, 14, made);
	MPI_Comm_free(&made);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_dup(MPI_COMM_SELF, &made);
	MPI_Comm_disconnect(&made);
}

void communicators(void)
{
	copies();
	parts();
	topologies();
	others();
}

/* Rank 0 on one side, ranks 1 and 2 on the other: the number of a rank is that of the other side. */
static void collectives_between(MPI_Comm comm, int left)
{
	static const int two[] = {7, 8}, places[] = {0, 100};
	static const MPI_Datatype types[] = {MPI_BYTE, MPI_BYTE};
	const int root = left ? MPI_ROOT : 0;
	MPI_Request each[3];
	MPI_Barrier(comm);
	MPI_Bcast(in, 21, MPI_BYTE, root, comm);
	MPI_Allreduce(out, in, 22, MPI_BYTE, MPI_BOR, comm);
	MPI_Reduce(out, in, 23, MPI_BYTE, MPI_BOR, root, comm);
	MPI_Gather(out, 24, MPI_BYTE, in, 24, MPI_BYTE, root, comm);
	MPI_Scatter(out, 25, MPI_BYTE, in, 25, MPI_BYTE, root, comm);
	MPI_Gatherv(out, left ? 0 : two[rank - 1], MPI_BYTE, in, two, places, MPI_BYTE, root, comm);
	MPI_Allgather(out, 26, MPI_BYTE, in, 26, MPI_BYTE, comm);
	MPI_Alltoall(out, 27, MPI_BYTE, in, 27, MPI_BYTE, comm);
	const int sends[] = {left ? 7 : 3, left ? 8 : 3}, gets[] = {left ? 3 : 6 + rank, 3};
	MPI_Alltoallv(out, sends, places, MPI_BYTE, in, gets, places, MPI_BYTE, comm);
	MPI_Alltoallw(out, sends, places, types, in, gets, places, types, comm);
	MPI_Ibarrier(comm, &each[0]);
	MPI_Ibcast(in, 28, MPI_BYTE, root, comm, &each[1]);
	MPI_Iallreduce(out, in + 4096, 29, MPI_BYTE, MPI_BOR, comm, &each[2]);
	MPI_Waitall(3, each, MPI_STATUSES_IGNORE);
}

void between(void)
{
	MPI_Comm half, comm, copy, merged;
	const int left = rank == 0;
	MPI_Comm_split(MPI_COMM_WORLD, left, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? 1 : 0, 5, &comm);
	if (left) {
		MPI_Send(out, 31, MPI_BYTE, 1, 31, comm); /* to rank 2 */
		MPI_Recv(in, 100, MPI_BYTE, MPI_ANY_SOURCE, 32, comm, MPI_STATUS_IGNORE);
	} else if (rank == 2) {
		MPI_Recv(in, 100, MPI_BYTE, 0, 31, comm, MPI_STATUS_IGNORE);
	} else {
		MPI_Send(out, 32, MPI_BYTE, 0, 32, comm);
	}
	collectives_between(comm, left);
	MPI_Comm_dup(comm, &copy);
	MPI_Bcast(in, 33, MPI_BYTE, left ? MPI_ROOT : 0, copy);
	MPI_Intercomm_merge(comm, left, &merged); /* rank 0 last */
	MPI_Bcast(in, 34, MPI_BYTE, 0, merged);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&comm);
	MPI_Comm_free(&half);
}
