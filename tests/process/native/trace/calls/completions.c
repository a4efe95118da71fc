/* Rank 0 completes by each call what rank 1 sent; all has come before it asks, so that its answer is known. */
#include "calls.h"

#define MOST 4

static MPI_Request each[MOST];

/* Receives of `count` messages: of the second half from anybody. */
static void post(int count, int tag)
{
	for (int i = 0; i < count; i++) {
		MPI_Irecv(in + 1000 * i, 100 + i, MPI_BYTE, i < count / 2 ? 1 : MPI_ANY_SOURCE, tag + i, MPI_COMM_WORLD, &each[i]);
	}
	settle(count, each);
}

static void wait_for(void)
{
	int index = 0, done = 0, indices[MOST];
	post(1, 10);
	MPI_Wait(&each[0], MPI_STATUS_IGNORE);
	MPI_Wait(&each[0], MPI_STATUS_IGNORE); /* null by now */
	post(2, 20);
	MPI_Waitall(2, each, MPI_STATUSES_IGNORE);
	post(1, 30);
	each[1] = each[0];
	each[0] = MPI_REQUEST_NULL;
	MPI_Waitany(2, each, &index, MPI_STATUS_IGNORE);
	MPI_Waitany(2, each, &index, MPI_STATUS_IGNORE);
	post(3, 40);
	MPI_Waitsome(3, each, &done, indices, MPI_STATUSES_IGNORE);
	MPI_Waitsome(3, each, &done, indices, MPI_STATUSES_IGNORE);
}

static void test_for(void)
{
	int flag = 0, index = 0, done = 0, indices[MOST];
	MPI_Status statuses[MOST];
	post(1, 50);
	MPI_Test(&each[0], &flag, statuses);
	post(2, 60);
	MPI_Testall(2, each, &flag, statuses);
	post(1, 70);
	MPI_Testany(1, each, &index, &flag, statuses);
	post(3, 80);
	MPI_Testsome(3, each, &done, indices, statuses);
	MPI_Testsome(3, each, &done, indices, statuses);
}

/* Tests of what nobody has sent yet. */
static void in_vain(void)
{
	int flag = 0, index = 0, done = 0, indices[MOST];
	MPI_Irecv(in, 1000, MPI_BYTE, 1, 90, MPI_COMM_WORLD, &each[0]);
	MPI_Test(&each[0], &flag, MPI_STATUS_IGNORE);
	MPI_Testall(1, each, &flag, MPI_STATUSES_IGNORE);
	MPI_Testany(1, each, &index, &flag, MPI_STATUS_IGNORE);
	MPI_Testsome(1, each, &done, indices, MPI_STATUSES_IGNORE);
	MPI_Request_get_status(each[0], &flag, MPI_STATUS_IGNORE);
	MPI_Iprobe(1, 91, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Send(out, 0, MPI_BYTE, 1, 99, MPI_COMM_WORLD);
	MPI_Wait(&each[0], MPI_STATUS_IGNORE);
}

static void send_what_is_waited_for(void)
{
	static const int counts[] = {1, 2, 1, 3, 1, 2, 1, 3};
	for (int i = 0; i < 8; i++) {
		for (int j = 0; j < counts[i]; j++) {
			MPI_Send(out, 100 + (i < 4 ? j : 0), MPI_BYTE, 0, 10 * (i + 1) + j, MPI_COMM_WORLD);
		}
	}
	MPI_Recv(in, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(out, 90, MPI_BYTE, 0, 90, MPI_COMM_WORLD);
}

void completions(void)
{
	if (rank == 0) {
		wait_for();
		test_for();
		in_vain();
	} else {
		send_what_is_waited_for();
	}
}
