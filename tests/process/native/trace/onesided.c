/* Windows, and messages of two threads at once, between two ranks. */
#include <mpi.h>
#include <pthread.h>

static int rank;

static void *exchange(void *number)
{
	const int tag = *(const int *)number;
	char out[64] = {0}, in[64];
	for (int i = 0; i < 200; i++) {
		MPI_Request request;
		MPI_Irecv(in, 64, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD, &request);
		MPI_Send(out, 10 * tag, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	return NULL;
}

static void windows(void)
{
	int data[4] = {0}, *place;
	MPI_Win win;
	MPI_Request request;
	MPI_Group all, other;
	const int peer = 1 - rank;
	MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &place, &win);
	MPI_Win_fence(0, win);
	MPI_Put(data, 2, MPI_INT, peer, 0, 2, MPI_INT, win);
	MPI_Get(data, 1, MPI_INT, peer, 3, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
	MPI_Accumulate(data, 3, MPI_INT, peer, 0, 3, MPI_INT, MPI_SUM, win);
	MPI_Rput(data, 1, MPI_INT, peer, 0, 1, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_flush(peer, win);
	MPI_Win_unlock(peer, win);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &peer, &other);
	MPI_Win_post(other, 0, win);
	MPI_Win_start(other, 0, win);
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	MPI_Win_free(&win);
	MPI_Group_free(&other);
	MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
	int level, numbers[2] = {1, 2};
	const int many = argc > 1; /* Open MPI has no windows in shared memory for programs of several threads */
	MPI_Init_thread(&argc, &argv, many ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!many) {
		windows();
	} else if (level == MPI_THREAD_MULTIPLE) {
		pthread_t second;
		pthread_create(&second, NULL, exchange, &numbers[1]);
		exchange(&numbers[0]);
		pthread_join(second, NULL);
	}
	MPI_Finalize();
	return 0;
}
