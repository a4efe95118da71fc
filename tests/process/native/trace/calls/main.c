#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank, ranks;
char out[ROOM], in[ROOM];
const char *self, *folder;

static const struct {
	const char *name;
	void (*run)(void);
} families[] = {
	{"messages", messages}, {"completions", completions}, {"collectives", collectives},
	{"pending", pending}, {"neighbours", neighbours}, {"communicators", communicators},
	{"between", between}, {"spawn", spawn}, {"ports", ports}, {"fences", fences},
	{"locks", locks}, {"groups", groups}, {"files", files}, {"notes", notes},
};

void settle(int count, const MPI_Request *requests)
{
	for (int i = 0; i < count; i++) {
		for (int done = 0; !done;) {
			PMPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
		}
	}
}

/* The family's name, a folder for files, and the level of threads to ask for. */
int main(int argc, char **argv)
{
	int level = 0;
	if (argc > 3) {
		MPI_Init_thread(&argc, &argv, atoi(argv[3]), &level);
		printf("level %d\n", level);
	} else {
		MPI_Init(&argc, &argv);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	self = argv[0];
	folder = argc > 2 ? argv[2] : ".";
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		if (argc > 1 && strcmp(argv[1], families[i].name) == 0) {
			families[i].run();
		}
	}
	MPI_Finalize();
	return 0;
}
