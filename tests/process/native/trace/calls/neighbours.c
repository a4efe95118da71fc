/* Neighbourhoods of three ranks: a chain (whose ends have nobody beyond), a ring one way, and a star. */
#include "calls.h"

#define RANKS 3

/* All calls with so many to give to and to get of: blocks of 4 a numbers, and i + 1 to, or of, the i-th. */
static void calls(MPI_Comm comm, int gives, int gets, const int get[], int a)
{
	static const int places[] = {0, 20, 40, 60};
	static const MPI_Aint bytes_at[] = {0, 80, 160, 240};
	static const MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
	MPI_Request each[5];
	char *to[5];
	for (int i = 0; i < 5; i++) {
		to[i] = in + 4096 * i;
	}
	const int mine = 1 + rank;
	int from[4] = {0};
	for (int i = 0; i < gets; i++) {
		from[i] = get[i] < 0 ? 5 : 1 + get[i]; /* the end of a chain gets nothing, whatever is said */
	}
	MPI_Neighbor_allgather(out, a, MPI_INT, to[0], a, MPI_INT, comm);
	MPI_Neighbor_allgatherv(out, mine, MPI_INT, to[0], from, places, MPI_INT, comm);
	MPI_Neighbor_alltoall(out, a + 1, MPI_INT, to[0], a + 1, MPI_INT, comm);
	int sends[4];
	for (int i = 0; i < gives; i++) {
		sends[i] = mine;
	}
	MPI_Neighbor_alltoallv(out, sends, places, MPI_INT, to[0], from, places, MPI_INT, comm);
	MPI_Neighbor_alltoallw(out, sends, bytes_at, types, to[0], from, bytes_at, types, comm);
	MPI_Ineighbor_allgather(out, a, MPI_INT, to[0], a, MPI_INT, comm, &each[0]);
	MPI_Ineighbor_allgatherv(out, mine, MPI_INT, to[1], from, places, MPI_INT, comm, &each[1]);
	MPI_Ineighbor_alltoall(out, a + 1, MPI_INT, to[2], a + 1, MPI_INT, comm, &each[2]);
	MPI_Ineighbor_alltoallv(out, sends, places, MPI_INT, to[3], from, places, MPI_INT, comm, &each[3]);
	MPI_Ineighbor_alltoallw(out, sends, bytes_at, types, to[4], from, bytes_at, types, comm, &each[4]);
	MPI_Waitall(5, each, MPI_STATUSES_IGNORE);
}

static void chain(void)
{
	const int size[1] = {RANKS}, open[1] = {0};
	const int both[2] = {rank - 1, rank + 1 < RANKS ? rank + 1 : -1};
	MPI_Comm comm;
	MPI_Cart_create(MPI_COMM_WORLD, 1, size, open, 0, &comm);
	calls(comm, 2, 2, both, 10);
	MPI_Comm_free(&comm);
}

static void ring(void)
{
	const int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
	MPI_Comm comm, copy;
	MPI_Request request;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &comm);
	calls(comm, 1, 1, &before, 20);
	MPI_Comm_idup(comm, &copy, &request); /* neighbours and all */
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Neighbor_allgather(out, 25, MPI_INT, in, 25, MPI_INT, copy);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&comm);
}

static void star(void)
{
	static const int index[RANKS] = {2, 3, 4}, edges[] = {1, 2, 0, 0};
	static const int leaves[] = {1, 2}, centre[] = {0};
	MPI_Comm comm;
	MPI_Graph_create(MPI_COMM_WORLD, RANKS, index, edges, 0, &comm);
	const int *near = rank == 0 ? leaves : centre;
	calls(comm, rank == 0 ? 2 : 1, rank == 0 ? 2 : 1, near, 30);
	MPI_Comm_free(&comm);
}

void neighbours(void)
{
	chain();
	ring();
	star();
}
