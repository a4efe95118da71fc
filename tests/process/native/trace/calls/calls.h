/* Programs that make every call of native/trace/calls.txt, a family each; the tables beside them say what is recorded. */
#pragma once

#include <mpi.h>
#include <stddef.h>

#define ROOM 65536

extern int rank, ranks;
extern char out[ROOM], in[ROOM];
extern const char *self, *folder;

/* Until all that was posted is done. PMPI's calls are no program's: nothing of it is recorded. */
void settle(int count, const MPI_Request *requests);

void messages(void);
void completions(void);
void collectives(void);
void pending(void);
void neighbours(void);
void communicators(void);
void between(void);
void spawn(void);
void ports(void);
void fences(void);
void locks(void);
void groups(void);
void files(void);
void notes(void);
