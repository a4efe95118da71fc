#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace wulf {

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
