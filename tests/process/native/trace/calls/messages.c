/* Messages of two ranks. Each has a size and a tag of its own. */
#include "calls.h"

#include <stdlib.h>
#include <unistd.h>

static void go(int from)
{
	if (rank == from) {
		MPI_Send(out, 0, MPI_BYTE, 1 - rank, 99, MPI_COMM_WORLD);
	} else {
		MPI_Recv(in, 0, MPI_BYTE, 1 - rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void send_all(void)
{
	MPI_Request each[9];
	MPI_Send(out, 101, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
	MPI_Bsend(out, 102, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
	MPI_Ssend(out, 103, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
	go(1); /* its receive is posted: what a ready send needs */
	MPI_Rsend(out, 104, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
	go(1);
	MPI_Isend(out, 105, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &each[0]);
	MPI_Ibsend(out, 106, MPI_BYTE, 1, 6, MPI_COMM_WORLD, &each[1]);
	MPI_Issend(out, 107, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &each[2]);
	MPI_Irsend(out, 108, MPI_BYTE, 1, 8, MPI_COMM_WORLD, &each[3]);
	MPI_Waitall(4, each, MPI_STATUSES_IGNORE);
	MPI_Send_init(out, 109, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &each[0]);
	MPI_Bsend_init(out, 110, MPI_BYTE, 1, 10, MPI_COMM_WORLD, &each[1]);
	MPI_Ssend_init(out, 111, MPI_BYTE, 1, 11, MPI_COMM_WORLD, &each[2]);
	MPI_Rsend_init(out, 112, MPI_BYTE, 1, 12, MPI_COMM_WORLD, &each[3]);
	for (int i = 0; i < 2; i++) {
		go(1);
		MPI_Start(&each[0]);
		MPI_Startall(3, &each[1]);
		MPI_Waitall(4, each, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < 4; i++) {
		MPI_Request_free(&each[i]);
	}
}

static void receive_all(void)
{
	MPI_Request each[9];
	MPI_Recv(in, 1000, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(in, 1000, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(in, 1000, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 1004, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &each[0]);
	go(1);
	MPI_Wait(&each[0], MPI_STATUS_IGNORE);
	for (int i = 0; i < 4; i++) {
		MPI_Irecv(in + 2000 * i, 105 + i, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : 0, 5 + i, MPI_COMM_WORLD, &each[i]);
	}
	go(1);
	MPI_Waitall(4, each, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 4; i++) {
		MPI_Recv_init(in + 2000 * i, 1000, MPI_BYTE, i == 3 ? MPI_ANY_SOURCE : 0, 9 + i, MPI_COMM_WORLD, &each[i]);
	}
	for (int i = 0; i < 2; i++) {
		MPI_Startall(4, each);
		go(1);
		MPI_Waitall(4, each, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < 4; i++) {
		MPI_Request_free(&each[i]);
	}
}

/* What a probe finds, and a receive of it. */
static void probe_all(void)
{
	MPI_Message found;
	MPI_Request request;
	int flag = 0;
	MPI_Probe(0, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(in, 113, MPI_BYTE, 0, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	while (!flag) {
		MPI_Iprobe(MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	MPI_Recv(in, 114, MPI_BYTE, 0, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, 1000, MPI_BYTE, &found, MPI_STATUS_IGNORE);
	for (flag = 0; !flag;) {
		MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &found, MPI_STATUS_IGNORE);
	}
	MPI_Imrecv(in, 1016, MPI_BYTE, &found, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Mprobe(MPI_PROC_NULL, 17, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, 1000, MPI_BYTE, &found, MPI_STATUS_IGNORE);
}

static void exchange(void)
{
	const int other = 1 - rank;
	MPI_Sendrecv(out, 118 + rank, MPI_BYTE, other, 18 + rank, in, 1000, MPI_BYTE, other, 18 + other, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(out, 120, MPI_BYTE, other, 20, in, 1000, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(out, 121, MPI_BYTE, rank == 0 ? 1 : MPI_PROC_NULL, 21, in, 1000, MPI_BYTE,
		     rank == 1 ? 0 : MPI_PROC_NULL, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv_replace(in, 122, MPI_BYTE, other, 22, other, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* What comes to nothing, or to an end that nobody waits for. */
static void ends(void)
{
	MPI_Request request;
	int flag = 0;
	MPI_Irecv(in, 123, MPI_BYTE, 1 - rank, 23, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 124, MPI_BYTE, MPI_ANY_SOURCE, 24, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 125, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 0) {
		MPI_Isend(out, 126, MPI_BYTE, 1, 26, MPI_COMM_WORLD, &request);
		MPI_Request_free(&request);
	} else {
		MPI_Irecv(in, 126, MPI_BYTE, 0, 26, MPI_COMM_WORLD, &request);
		while (!flag) {
			MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
		}
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

/* A type with holes, and one that is large: counted in bytes that are sent. */
static void types(void)
{
	MPI_Datatype column;
	MPI_Type_vector(10, 2, 16, MPI_INT, &column);
	MPI_Type_commit(&column);
	if (rank == 0) {
		MPI_Send(out, 3, column, 1, 27, MPI_COMM_WORLD);
		MPI_Send(out, 0, column, 1, 28, MPI_COMM_WORLD);
	} else {
		MPI_Recv(in, 3, column, 0, 27, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(in, 1, column, 0, 28, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Type_free(&column);
}

void messages(void)
{
	char *room = malloc(4096);
	MPI_Buffer_attach(room, 4096);
	if (rank == 0) {
		send_all();
	} else {
		receive_all();
	}
	if (rank == 0) {
		for (int i = 13; i < 17; i++) {
			MPI_Send(out, 100 + i, MPI_BYTE, 1, i, MPI_COMM_WORLD);
		}
	} else {
		probe_all();
	}
	exchange();
	ends();
	types();
	int size = 0;
	MPI_Buffer_detach(&room, &size);
	free(room);
}
