/* What programs do with signals, and say of them: argv[1] says which, argv[2] whether they prepare it "before" or
   "after" MPI_Init. What they print is the same in every run, and hangs on whom a signal reached, with what. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { pages = 64, rounds = 20, threads = 4 };

static char *barrier; /* pages that nobody may touch before their fault was handled */
static long page;
static volatile sig_atomic_t caught, code, number, ours;
static volatile long faults[pages];
static sigjmp_buf back;
static struct sigaction found;
static int checkpoints[2]; /* a pipe: one byte each */
static pthread_barrier_t together;

static void handle(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | flags;
	if (sigaction(signal, &action, &found) != 0) {
		abort();
	}
}

static void lift(int signal, siginfo_t *info, void *context)
{
	const long which = ((char *)info->si_addr - barrier) / page;
	if ((char *)info->si_addr < barrier || which >= pages) {
		static const char said[] = "a fault elsewhere\n";
		(void)!write(1, said, sizeof(said) - 1);
		_exit(9);
	}
	__atomic_add_fetch(&faults[which], 1, __ATOMIC_RELAXED);
	mprotect(barrier + which * page, (size_t)page, PROT_READ | PROT_WRITE);
}

static void note(int signal, siginfo_t *info, void *context)
{
	caught++;
	code = info->si_code;
	number = info->si_value.sival_int;
	ours = info->si_pid == getpid();
}

static void jump(int signal, siginfo_t *info, void *context)
{
	caught++;
	code = info->si_code;
	siglongjmp(back, 1);
}

/* System calls alone: the first signal often comes while fork() holds malloc's lock. */
static void checkpoint(int signal, siginfo_t *info, void *context)
{
	const int file = memfd_create("checkpoint", MFD_CLOEXEC);
	if (write(file, barrier, (size_t)(pages * page)) == pages * page && close(file) == 0) {
		caught++;
	}
	(void)!write(checkpoints[1], "", 1);
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
	caught++;
	if (found.sa_flags & SA_SIGINFO) {
		found.sa_sigaction(signal, info, context);
	} else if (found.sa_handler != SIG_DFL) {
		found.sa_handler(signal);
	} else {
		sigaction(signal, &found, NULL);
		if (signal != SIGSEGV) { /* the instruction that faulted comes again by itself */
			raise(signal);
		}
	}
}

static void protect(void)
{
	mprotect(barrier, (size_t)(pages * page), PROT_NONE);
}

static void touch(int from, int every)
{
	for (int i = from; i < pages; i += every) {
		((volatile char *)barrier)[i * page + i] = 1;
	}
}

static void *touching(void *first)
{
	pthread_barrier_wait(&together); /* their first faults come at one moment */
	touch((int)(long)first, threads);
	return NULL;
}

static void tell_faults(void)
{
	long all = 0;
	for (int i = 0; i < pages; i++) {
		all += faults[i];
	}
	printf("%ld faults\n", all);
}

/* A write barrier, as of a garbage collector or of shared memory over a network. */
static void collect(void)
{
	for (int i = 0; i < rounds; i++) {
		protect();
		touch(0, 1);
	}
	tell_faults();
}

static void collect_in_threads(void)
{
	pthread_t each[threads];
	protect();
	pthread_barrier_init(&together, NULL, threads);
	for (long i = 0; i < threads; i++) {
		pthread_create(&each[i], NULL, touching, (void *)i);
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(each[i], NULL);
	}
	tell_faults();
}

static int deep(int depth)
{
	volatile char some[4096];
	some[depth % 4096] = 1;
	return deep(depth + 1) + some[0];
}

static void overflow(void)
{
	struct rlimit least = {1 << 20, 1 << 20};
	setrlimit(RLIMIT_STACK, &least);
	stack_t stack = {malloc(1 << 16), 0, 1 << 16};
	sigaltstack(&stack, NULL);
	if (sigsetjmp(back, 1) == 0) {
		deep(0);
	}
	printf("%d overflow\n", (int)caught);
}

static void illegal(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("ud2");
#else
	__asm__ volatile(".inst 0");
#endif
}

static void divide(void)
{
#if defined(__x86_64__) || defined(__i386__)
	volatile int all = 100, nothing = 0;
	caught += all / nothing;
#else /* there a division by zero is none */
	raise(SIGFPE);
#endif
}

static void beyond(void)
{
	FILE *file = tmpfile();
	volatile char *mapped = mmap(NULL, (size_t)page, PROT_READ, MAP_SHARED, fileno(file), 0);
	caught += mapped[0]; /* the file has no such byte */
}

static void survive(void (*fault)(void))
{
	if (sigsetjmp(back, 1) == 0) {
		fault();
	}
	printf("%d caught, code %d\n", (int)caught, (int)code);
}

static void sent(int signal)
{
	union sigval value = {42};
	sigqueue(getpid(), signal, value);
	printf("%d caught, code %d, value %d, of this process: %d\n", (int)caught, (int)code, (int)number, (int)ours);
}

static void profile(void)
{
	const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
	setitimer(ITIMER_PROF, &often, NULL);
	while (caught < 5) {
		int flag;
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	setitimer(ITIMER_PROF, &never, NULL);
	puts("5 samples");
}

/* A batch system asks for checkpoints, the next when the last is there, while the program waits in MPI. */
static void ask_for_checkpoints(void)
{
	enum { wanted = 3 };
	if (pipe(checkpoints) != 0) {
		abort();
	}
	pid_t asker = fork();
	if (asker == 0) {
		char done;
		for (int i = 0; i < wanted; i++) {
			kill(getppid(), SIGUSR1);
			(void)!read(checkpoints[0], &done, 1);
		}
		_exit(0);
	}
	while (caught < wanted) {
		int flag;
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	waitpid(asker, NULL, 0);
	printf("%d checkpoints\n", (int)caught);
}

static void child(void)
{
	pid_t one = fork();
	if (one == 0) {
		protect();
		touch(0, 1);
		raise(SIGABRT);
	}
	int status;
	waitpid(one, &status, 0);
	printf("the child ended by %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
}

static const struct {
	const char *name;
	int signal, flags;
	void (*handler)(int, siginfo_t *, void *);
} prepared[] = {
	{"barrier", SIGSEGV, 0, lift},
	{"barrier_threads", SIGSEGV, 0, lift},
	{"overflow", SIGSEGV, SA_ONSTACK, jump},
	{"once", SIGSEGV, SA_RESETHAND, lift},
	{"illegal", SIGILL, 0, jump},
	{"divide", SIGFPE, 0, jump},
	{"beyond", SIGBUS, 0, jump},
	{"sent_segv", SIGSEGV, 0, note},
	{"sent_fpe", SIGFPE, 0, note},
	{"sent_term", SIGTERM, 0, note},
	{"sent_int", SIGINT, 0, note},
	{"sent_usr2", SIGUSR2, 0, note},
	{"sent_abrt", SIGABRT, 0, note},
	{"profiler", SIGPROF, SA_RESTART, note},
	{"checkpoint", SIGUSR1, SA_RESTART, checkpoint},
	{"fork", SIGSEGV, 0, lift},
	{"chain_segv", SIGSEGV, 0, pass_on},
	{"chain_term", SIGTERM, 0, pass_on},
};

static void prepare(const char *way)
{
	for (size_t i = 0; i < sizeof(prepared) / sizeof(prepared[0]); i++) {
		if (strcmp(way, prepared[i].name) == 0) {
			handle(prepared[i].signal, prepared[i].handler, prepared[i].flags);
		}
	}
}

static void carry_out(const char *way)
{
	const struct {
		const char *name;
		int signal;
	} ends[] = {{"term", SIGTERM}, {"int", SIGINT}, {"usr1", SIGUSR1},
		    {"usr2", SIGUSR2}, {"fpe", SIGFPE}, {"abrt", SIGABRT}};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (strcmp(way, ends[i].name) == 0) {
			kill(getpid(), ends[i].signal);
		}
	}
	for (size_t i = 0; i < sizeof(prepared) / sizeof(prepared[0]); i++) {
		if (strcmp(way, prepared[i].name) == 0 && strncmp(way, "sent_", 5) == 0) {
			sent(prepared[i].signal);
		}
	}
	if (strcmp(way, "barrier") == 0) {
		collect();
	} else if (strcmp(way, "barrier_threads") == 0) {
		collect_in_threads();
	} else if (strcmp(way, "overflow") == 0) {
		overflow();
	} else if (strcmp(way, "illegal") == 0) {
		survive(illegal);
	} else if (strcmp(way, "divide") == 0) {
		survive(divide);
	} else if (strcmp(way, "beyond") == 0) {
		survive(beyond);
	} else if (strcmp(way, "profiler") == 0) {
		profile();
	} else if (strcmp(way, "checkpoint") == 0) {
		ask_for_checkpoints();
	} else if (strcmp(way, "fork") == 0) {
		child();
	} else if (strcmp(way, "chain_term") == 0) {
		kill(getpid(), SIGTERM);
	} else if (strcmp(way, "segv") == 0 || strcmp(way, "chain_segv") == 0 || strcmp(way, "once") == 0) {
		protect();
		touch(0, 1);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	const int after = argc > 2 && strcmp(argv[2], "after") == 0;
	page = sysconf(_SC_PAGESIZE);
	barrier = mmap(NULL, (size_t)(pages * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!after) {
		prepare(way);
	}
	MPI_Init(&argc, &argv);
	if (after) {
		prepare(way);
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	puts("begins");
	carry_out(way);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	puts("ends");
	return 0;
}
