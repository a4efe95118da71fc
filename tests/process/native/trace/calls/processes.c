/* Processes beyond MPI_COMM_WORLD: started by it, or met at a port. */
#include "calls.h"

#include <string.h>

/* More than the ranks, so that they have numbers of their own. */
#define CHILDREN 3

/* A program that was started by others sends them a message. */
static int is_child(void)
{
	MPI_Comm parent;
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL) {
		return 0;
	}
	if (rank == 0) {
		MPI_Send(out, 41, MPI_BYTE, 0, 41, parent);
	}
	MPI_Bcast(in, 42, MPI_BYTE, 0, parent);
	MPI_Comm_disconnect(&parent);
	return 1;
}

void spawn(void)
{
	char *words[] = {"spawn", NULL};
	MPI_Comm children;
	if (is_child()) {
		return;
	}
	MPI_Comm_spawn(self, words, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
	if (rank == 0) {
		MPI_Recv(in, 100, MPI_BYTE, 0, 41, children, MPI_STATUS_IGNORE);
	}
	MPI_Bcast(in, 42, MPI_BYTE, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
	MPI_Comm_disconnect(&children);
}

/* Ranks 0 and 1 meet at a port as if they were strangers. */
void ports(void)
{
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm met;
	memset(port, 0, sizeof(port));
	if (rank == 0) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Send(port, 100, MPI_BYTE, 1, 51, MPI_COMM_WORLD);
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met);
		MPI_Send(out, 52, MPI_BYTE, 0, 52, met);
	} else {
		MPI_Recv(port, 100, MPI_BYTE, 0, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met);
		MPI_Recv(in, 100, MPI_BYTE, 0, 52, met, MPI_STATUS_IGNORE);
	}
	MPI_Comm_disconnect(&met);
	if (rank == 0) {
		MPI_Close_port(port);
	}
}
