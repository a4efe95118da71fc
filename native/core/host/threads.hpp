#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace wulf {

/// A signal that wakes a blocked call without ending it. SIGURG, since its default is to be ignored. A
/// receive timeout of a socket would do as well, but would arm a timer for every message.
inline constexpr int kNudgeSignal = SIGURG;

/// From now on the signal wakes: calls return EINTR.
void accept_nudges();

/// Runs a full fence on every thread of the process. Where the kernel can't (before Linux 4.14), waits longer
/// than a store can take to be seen.
void fence_all_threads() noexcept;

/// Lets another thread end a thread's blocking calls on a file that knows no shutdown(2). The calls of one
/// thread go through one of these:
///
///     do { call } while (failed with EINTR and not interrupted)    between enter() and leave()
///
/// A call pays for no fence: whoever interrupts makes the kernel run one on every thread (membarrier(2)),
/// since that happens once and calls are made by the million.
class Interruptible {
 public:
  Interruptible() { accept_nudges(); }

  /// Before a call. False when it must not be made any more; leave() follows in either case.
  [[nodiscard]] bool enter() noexcept {
    thread_.store(own_thread(), std::memory_order_relaxed);
    inside_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(
        std::memory_order_seq_cst);  // in the order written; fence_all_threads does the rest
    return !interrupted_.load(std::memory_order_relaxed);
  }
  void leave() noexcept { inside_.store(false, std::memory_order_release); }

  [[nodiscard]] bool interrupted() const noexcept { return interrupted_.load(std::memory_order_relaxed); }

  /// From any thread: returns when no call is in progress, and none will be made.
  void interrupt() noexcept;

 private:
  /// The system's number of the calling thread.
  [[nodiscard]] static int own_thread() noexcept;

  std::atomic<int> thread_{0};
  std::atomic<bool> inside_{false};
  std::atomic<bool> interrupted_{false};
};

/// Gives the calling thread a file table of its own that holds `kept` and the standard streams alone. With a
/// table of its own a thread's system calls need not count references to the file, two locked instructions
/// each; what is not kept must go, or its last close elsewhere would not end a connection. One thread of
/// several alone may call it. Where the kernel can't (before Linux 5.9), all stays shared.
void own_files(std::vector<int> kept) noexcept;

/// Threads of one owner, who joins them all when he ends. Those that have ended are joined at the next start.
class Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  Threads(Threads&&) = delete;
  Threads& operator=(Threads&&) = delete;
  ~Threads() { join(); }

  /// Throws std::system_error where the system gives no thread.
  void start(std::function<void()> body);

  /// Waits for all. Nobody may start one meanwhile.
  void join();

  /// How many run now.
  [[nodiscard]] std::size_t running();

 private:
  struct Entry {
    std::thread thread;
    std::atomic<bool> ended{false};
  };
  void reap();

  std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace wulf
