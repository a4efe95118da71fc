/* A file of two ranks, by all calls of the table; and what is noted beside calls. */
#include "calls.h"

#include <stdio.h>

void files(void)
{
	char path[4096];
	MPI_File file;
	snprintf(path, sizeof(path), "%s/shared", folder);
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	MPI_File_write(file, out, 201, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_write_all(file, out, 202, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_write_at(file, 1000 * rank, out, 203, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_write_at_all(file, 1000 * rank, out, 204, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_write_shared(file, out, 205, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_write_ordered(file, out, 206, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_sync(file);
	MPI_File_read(file, in, 211, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_read_all(file, in, 212, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_read_at(file, 0, in, 213, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_read_at_all(file, 0, in, 214, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_read_shared(file, in, 215, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_read_ordered(file, in, 216, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
}

static __attribute__((noinline)) void from_here(void) { MPI_Send(out, 91, MPI_BYTE, 0, 91, MPI_COMM_WORLD); }

static __attribute__((noinline)) void to_itself(void)
{
	MPI_Request request;
	MPI_Irecv(in, 91, MPI_BYTE, 0, 91, MPI_COMM_WORLD, &request);
	from_here();
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* One rank: of others nobody knows how far they come until it aborts. */
void notes(void)
{
	MPI_Pcontrol(3);
	for (int i = 0; i < 2; i++) {
		to_itself();
	}
	MPI_Pcontrol(-2);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Send(out, 92, MPI_BYTE, 99, 92, MPI_COMM_WORLD); /* refused, so no record */
	MPI_Abort(MPI_COMM_WORLD, 9);
}
