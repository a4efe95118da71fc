#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <utility>

namespace wulf::node {

/// fork(2). In the child (0): it is killed when the thread that made it ends, so that it cannot outlive this
/// program whatever ends that. Throws Unavailable where no process can be had.
[[nodiscard]] pid_t fork_for_life();

/// Waits for a child; its status as of waitpid(2), 0 where nobody keeps it (SIGCHLD ignored).
int wait_for(pid_t child) noexcept;

/// A forked process, which ends with this object and is always waited for.
class Child {
 public:
  /// Runs `body` in the child, whose result is the exit status. The program has other threads: the body may
  /// only make system calls.
  template <typename Body>
  explicit Child(Body body) : pid_(fork_for_life()) {
    if (pid_ == 0) {
      _exit(body());
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child& operator=(Child&&) = delete;
  ~Child();

  /// As wait_for.
  int wait() noexcept { return wait_for(std::exchange(pid_, 0)); }

 private:
  pid_t pid_ = 0;
};

}  // namespace wulf::node
