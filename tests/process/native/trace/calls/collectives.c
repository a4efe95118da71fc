/* Collectives of three ranks: blocking, and under way all at the same time. Each has a size of its own. */
#include "calls.h"

#define RANKS 3
#define MOST 64

static MPI_Request under_way[MOST];
static int begun;
static int waits; /* whether a call waits */
static char *to;  /* a place of its own for each call, since they overlap */

static char *place(void)
{
	to += 1024;
	return to;
}

#define CALL(blocking, other, ...)                                             \
	do {                                                                   \
		if (waits) {                                                   \
			MPI_##blocking(__VA_ARGS__);                           \
		} else {                                                       \
			MPI_##other(__VA_ARGS__, &under_way[begun++]);         \
		}                                                              \
	} while (0)

static const int counts[RANKS] = {10, 0, 30}, places[RANKS] = {0, 100, 200};

static void reductions(MPI_Comm comm)
{
	CALL(Barrier, Ibarrier, comm);
	CALL(Bcast, Ibcast, place(), 40, MPI_INT, 1, comm);
	CALL(Reduce, Ireduce, out, place(), 41, MPI_INT, MPI_SUM, 2, comm);
	CALL(Allreduce, Iallreduce, out, place(), 42, MPI_INT, MPI_SUM, comm);
	CALL(Allreduce, Iallreduce, MPI_IN_PLACE, place(), 43, MPI_INT, MPI_MAX, comm);
	CALL(Scan, Iscan, out, place(), 44, MPI_INT, MPI_SUM, comm);
	CALL(Exscan, Iexscan, out, place(), 45, MPI_INT, MPI_SUM, comm);
	CALL(Reduce_scatter_block, Ireduce_scatter_block, out, place(), 46, MPI_INT, MPI_SUM, comm);
	CALL(Reduce_scatter, Ireduce_scatter, out, place(), counts, MPI_INT, MPI_SUM, comm);
}

/* What means nothing at a rank is not there. */
static void rooted(MPI_Comm comm)
{
	const int root = rank == 0;
	const MPI_Datatype type = root ? MPI_INT : MPI_DATATYPE_NULL;
	CALL(Gather, Igather, out, 50, MPI_INT, place(), root ? 50 : -1, type, 0, comm);
	CALL(Gatherv, Igatherv, out, counts[rank], MPI_INT, place(), root ? counts : NULL, root ? places : NULL, type, 0,
	     comm);
	CALL(Gatherv, Igatherv, root ? MPI_IN_PLACE : (void *)out, counts[rank], MPI_INT, place(), root ? counts : NULL,
	     root ? places : NULL, type, 0, comm);
	CALL(Scatter, Iscatter, out, root ? 51 : -1, type, place(), 51, MPI_INT, 0, comm);
	CALL(Scatter, Iscatter, out, root ? 52 : -1, type, root ? MPI_IN_PLACE : (void *)place(), 52, MPI_INT, 0, comm);
	CALL(Scatterv, Iscatterv, out, root ? counts : NULL, root ? places : NULL, type, place(), counts[rank], MPI_INT, 0,
	     comm);
}

/* Rank r gives rank s nothing where r + s is even, and 10 r + s numbers else. */
static void exchanges(MPI_Comm comm)
{
	static int gives[RANKS], gets[RANKS], gives_bytes[RANKS], gets_bytes[RANKS], bytes_at[RANKS] = {0, 200, 400};
	static MPI_Datatype types[RANKS] = {MPI_INT, MPI_INT, MPI_INT};
	static const int in_place[RANKS] = {7, 7, 7};
	for (int i = 0; i < RANKS; i++) {
		gives[i] = (rank + i) % 2 ? 10 * rank + i : 0;
		gets[i] = (rank + i) % 2 ? 10 * i + rank : 0;
		gives_bytes[i] = gives[i];
		gets_bytes[i] = gets[i];
	}
	CALL(Allgather, Iallgather, out, 53, MPI_INT, place(), 53, MPI_INT, comm);
	CALL(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, place(), 54, MPI_INT, comm);
	CALL(Allgatherv, Iallgatherv, out, counts[rank], MPI_INT, place(), counts, places, MPI_INT, comm);
	CALL(Alltoall, Ialltoall, out, 55, MPI_INT, place(), 55, MPI_INT, comm);
	CALL(Alltoallv, Ialltoallv, out, gives, places, MPI_INT, place(), gets, places, MPI_INT, comm);
	CALL(Alltoallv, Ialltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, place(), in_place, places, MPI_INT, comm);
	CALL(Alltoallw, Ialltoallw, out, gives_bytes, bytes_at, types, place(), gets_bytes, bytes_at, types, comm);
}

static void all_of(int blocking)
{
	waits = blocking;
	to = in;
	begun = 0;
	reductions(MPI_COMM_WORLD);
	rooted(MPI_COMM_WORLD);
	exchanges(MPI_COMM_WORLD);
}

void collectives(void) { all_of(1); }

/* Completed in another order than they were begun. */
void pending(void)
{
	all_of(0);
	MPI_Waitall(begun - 4, under_way + 4, MPI_STATUSES_IGNORE);
	for (int i = 3; i >= 0; i--) {
		MPI_Wait(&under_way[i], MPI_STATUS_IGNORE);
	}
}
