/* Messages one to one, all kinds of them, between two ranks; the test knows what each rank calls. */
#include <mpi.h>
#include <stdlib.h>

static char data[4096], more[4096];

static void blocking(int rank)
{
	if (rank == 0) {
		MPI_Send(data, 10, MPI_INT, 1, 1, MPI_COMM_WORLD);
		MPI_Ssend(data, 11, MPI_INT, 1, 2, MPI_COMM_WORLD);
		void *room = malloc(1000 + MPI_BSEND_OVERHEAD);
		MPI_Buffer_attach(room, 1000 + MPI_BSEND_OVERHEAD);
		MPI_Bsend(data, 12, MPI_INT, 1, 3, MPI_COMM_WORLD);
		int size;
		MPI_Buffer_detach(&room, &size);
		free(room);
		MPI_Recv(data, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Rsend(data, 13, MPI_INT, 1, 5, MPI_COMM_WORLD);
		MPI_Send(data, 5, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	} else {
		MPI_Request request;
		MPI_Recv(data, 1000, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(data, 1000, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(data, 1000, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Irecv(data, 1000, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
		MPI_Send(data, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Recv(data, 5, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void exchanges(int rank)
{
	MPI_Sendrecv(data, 100 + rank, MPI_BYTE, 1 - rank, 7, more, 4096, MPI_BYTE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv_replace(data, 50, MPI_BYTE, 1 - rank, 8, 1 - rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void types(int rank)
{
	MPI_Datatype column;
	MPI_Type_vector(10, 2, 8, MPI_DOUBLE, &column); /* 160 bytes of 608 */
	MPI_Type_commit(&column);
	if (rank == 0) {
		MPI_Send(data, 3, column, 1, 9, MPI_COMM_WORLD);
	} else {
		MPI_Recv(data, 3, column, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Type_free(&column);
}

static void persistent(int rank)
{
	MPI_Request requests[2];
	if (rank == 0) {
		MPI_Send_init(data, 20, MPI_BYTE, 1, 10, MPI_COMM_WORLD, &requests[0]);
		MPI_Ssend_init(data, 21, MPI_BYTE, 1, 11, MPI_COMM_WORLD, &requests[1]);
	} else {
		MPI_Recv_init(data, 20, MPI_BYTE, 0, 10, MPI_COMM_WORLD, &requests[0]);
		MPI_Recv_init(more, 100, MPI_BYTE, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &requests[1]);
	}
	for (int i = 0; i < 2; i++) {
		MPI_Start(&requests[0]);
		MPI_Startall(1, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* inactive */
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void probes(int rank)
{
	if (rank == 0) {
		MPI_Send(data, 30, MPI_BYTE, 1, 12, MPI_COMM_WORLD);
		MPI_Send(data, 31, MPI_BYTE, 1, 13, MPI_COMM_WORLD);
		MPI_Send(data, 32, MPI_BYTE, 1, 14, MPI_COMM_WORLD);
		MPI_Send(data, 33, MPI_BYTE, 1, 15, MPI_COMM_WORLD);
		return;
	}
	MPI_Message message;
	MPI_Request request;
	int flag = 0;
	MPI_Probe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(data, 30, MPI_BYTE, 0, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	while (!flag) {
		MPI_Iprobe(0, 13, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	MPI_Recv(data, 31, MPI_BYTE, 0, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(data, 100, MPI_BYTE, &message, MPI_STATUS_IGNORE);
	for (flag = 0; !flag;) {
		MPI_Improbe(0, 15, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
	}
	MPI_Imrecv(data, 100, MPI_BYTE, &message, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void cancelled(int rank)
{
	MPI_Request request;
	MPI_Irecv(data, 4, MPI_BYTE, 1 - rank, 99, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE); /* null */
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	blocking(rank);
	exchanges(rank);
	types(rank);
	persistent(rank);
	probes(rank);
	cancelled(rank);
	MPI_Finalize();
	return 0;
}
