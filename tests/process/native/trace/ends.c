/* Ways for a program to end, and calls in great number; argv[1] says which. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks;

static void selves(int count)
{
	MPI_Request requests[2];
	char out[8] = {0}, in[8];
	for (int i = 0; i < count; i++) {
		MPI_Irecv(in, 8, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(out, 8, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
}

static void nap(double seconds)
{
	struct timespec for_so_long = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	nanosleep(&for_so_long, NULL);
}

static int order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void many(int batches)
{
	double *each = malloc((size_t)batches * sizeof(double));
	for (int i = 0; i < batches; i++) {
		struct timespec begin, end;
		clock_gettime(CLOCK_MONOTONIC, &begin);
		selves(1000);
		clock_gettime(CLOCK_MONOTONIC, &end);
		each[i] = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / 3000;
	}
	qsort(each, (size_t)batches, sizeof(double), order);
	printf("%.1f ns a call\n", each[batches / 2]);
	free(each);
}

static void forked(void)
{
	selves(5);
	pid_t child = fork();
	if (child == 0) {
		/* a child may not use MPI; that it ends must not touch the trace */
		exit(0);
	}
	waitpid(child, NULL, 0);
	selves(5);
}

static void any_order(void)
{
	if (rank != 0) {
		nap(0.05 * rank);
		MPI_Ssend(&rank, 1, MPI_INT, 0, 20 + rank, MPI_COMM_WORLD);
		return;
	}
	MPI_Request *requests = malloc((size_t)ranks * sizeof(MPI_Request));
	int *got = malloc((size_t)ranks * sizeof(int)), flag = 0, index;
	requests[0] = MPI_REQUEST_NULL;
	for (int i = 1; i < ranks; i++) {
		MPI_Irecv(&got[i], 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
	}
	while (!flag) {
		MPI_Testany(ranks, requests, &index, &flag, MPI_STATUS_IGNORE);
	}
	for (int i = 2; i < ranks; i++) {
		MPI_Waitany(ranks, requests, &index, MPI_STATUS_IGNORE);
	}
	MPI_Waitany(ranks, requests, &index, MPI_STATUS_IGNORE);
	free(requests);
	free(got);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (strcmp(way, "fault") == 0) {
		selves(10);
		raise(SIGSEGV);
	} else if (strcmp(way, "abort") == 0) {
		selves(10);
		MPI_Abort(MPI_COMM_WORLD, 3);
	} else if (strcmp(way, "exit") == 0) {
		selves(10);
		exit(0);
	} else if (strcmp(way, "killed") == 0) {
		selves(10);
		nap(1.2);
		selves(10);
		raise(SIGKILL);
	} else if (strcmp(way, "full") == 0) {
		const struct rlimit least = {1500000, 1500000};
		setrlimit(RLIMIT_FSIZE, &least);
		selves(100000);
		puts("went on");
	} else if (strcmp(way, "fork") == 0) {
		forked();
	} else if (strcmp(way, "any") == 0) {
		any_order();
	} else if (strcmp(way, "many") == 0) { /* what a call takes, in the median of many batches */
		many(argc > 2 ? atoi(argv[2]) : 20);
	}
	MPI_Finalize();
	return 0;
}
