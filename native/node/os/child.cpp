#include "node/os/child.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "node/os/unavailable.hpp"

namespace wulf::node {

pid_t fork_for_life() {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    throw Unavailable("no process can be made (fork)", errno);
  }
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const pid_t maker = getppid();  // 0: it lives in another PID namespace
    if (maker != parent && maker != 0) {
      _exit(1);  // it died before the line above
    }
  }
  return pid;
}

int wait_for(pid_t child) noexcept {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return 0;
    }
  }
  return status;
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    wait_for(pid_);
  }
}

}  // namespace wulf::node
