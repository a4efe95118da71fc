/* Windows of two ranks, by each kind of epoch. */
#include "calls.h"

static void put_all(MPI_Win window, int to)
{
	int one = 1, two = 2, got = 0;
	MPI_Put(out, 61, MPI_BYTE, to, 0, 61, MPI_BYTE, window);
	MPI_Get(in, 62, MPI_BYTE, to, 100, 62, MPI_BYTE, window);
	MPI_Accumulate(out, 16, MPI_INT, to, 256, 16, MPI_INT, MPI_SUM, window);
	MPI_Get_accumulate(out, 0, MPI_INT, in + 4096, 17, MPI_INT, to, 512, 17, MPI_INT, MPI_NO_OP, window);
	MPI_Fetch_and_op(&one, &got, MPI_INT, to, 768, MPI_SUM, window);
	MPI_Compare_and_swap(&one, &two, &got, MPI_INT, to, 1024, window);
}

void fences(void)
{
	MPI_Win window;
	char *base;
	MPI_Win_create(in + 8192, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_fence(0, window);
	if (rank == 0) {
		put_all(window, 1);
	}
	MPI_Win_fence(0, window);
	MPI_Put(out, 63 + rank, MPI_BYTE, 1 - rank, 0, 63 + rank, MPI_BYTE, window);
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
	MPI_Win_allocate_shared(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
	MPI_Win_fence(0, window);
	MPI_Put(out, 65, MPI_BYTE, rank, 0, 65, MPI_BYTE, window); /* to itself */
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
}

static void locked(MPI_Win window)
{
	MPI_Request each[4];
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
	put_all(window, 1);
	MPI_Win_flush(1, window);
	MPI_Rput(out, 71, MPI_BYTE, 1, 0, 71, MPI_BYTE, window, &each[0]);
	MPI_Rget(in, 72, MPI_BYTE, 1, 100, 72, MPI_BYTE, window, &each[1]);
	MPI_Raccumulate(out, 18, MPI_INT, 1, 256, 18, MPI_INT, MPI_SUM, window, &each[2]);
	MPI_Rget_accumulate(out, 19, MPI_INT, in + 4096, 19, MPI_INT, 1, 512, 19, MPI_INT, MPI_SUM, window, &each[3]);
	MPI_Waitall(4, each, MPI_STATUSES_IGNORE);
	MPI_Win_flush_local(1, window);
	MPI_Win_unlock(1, window);
}

void locks(void)
{
	MPI_Win window;
	MPI_Win_create(in + 8192, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	if (rank == 0) {
		locked(window);
	}
	MPI_Win_lock_all(0, window);
	MPI_Put(out, 73, MPI_BYTE, 1 - rank, 2048 + 100 * rank, 73, MPI_BYTE, window);
	MPI_Win_flush_all(window);
	MPI_Win_sync(window);
	MPI_Win_flush_local_all(window);
	MPI_Win_unlock_all(window);
	MPI_Win_free(&window);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_free(&window);
}

/* Rank 0 puts within the epoch that rank 1 opens, and the other way round. */
void groups(void)
{
	MPI_Win window;
	MPI_Group world, other;
	char *base;
	const int peer = 1 - rank;
	int flag = 0;
	MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &peer, &other);
	if (rank == 0) {
		MPI_Win_start(other, 0, window);
		MPI_Put(out, 81, MPI_BYTE, 1, 0, 81, MPI_BYTE, window);
		MPI_Put(out, 82, MPI_BYTE, 1, 100, 82, MPI_BYTE, window);
		MPI_Win_complete(window);
		MPI_Win_post(other, 0, window);
		MPI_Win_wait(window);
	} else {
		MPI_Win_post(other, 0, window);
		while (!flag) {
			MPI_Win_test(window, &flag);
		}
		MPI_Win_start(other, 0, window);
		MPI_Get(in, 83, MPI_BYTE, 0, 0, 83, MPI_BYTE, window);
		MPI_Win_complete(window);
	}
	MPI_Group_free(&other);
	MPI_Group_free(&world);
	MPI_Win_free(&window);
}
