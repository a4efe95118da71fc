// Preloaded into the ranks of an MPI that spins, for tests that start more ranks than there are CPUs: a rank that finds
// nothing to do lets another have the CPU, which by itself it would hold until the scheduler's next tick.
#include <dlfcn.h>
#include <sched.h>

extern "C" unsigned ucp_worker_progress(void* worker) {
  static auto* const real = reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  const unsigned done = real(worker);
  if (done == 0) {
    sched_yield();
  }
  return done;
}
