#include "core/host/threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace wulf {
namespace {

constexpr unsigned kUnshare = 1U << 1;  // CLOSE_RANGE_UNSHARE, which older headers lack
constexpr unsigned kLastFile = ~0U;

constexpr long kCloseRange = 436;  // of every architecture; older C libraries lack the name

#ifdef __NR_membarrier
constexpr long kMembarrier = __NR_membarrier;
#else
constexpr long kMembarrier = -1;
#endif
constexpr int kPrivateExpedited = 1 << 3;  // <linux/membarrier.h>, which older systems lack
constexpr int kRegisterPrivateExpedited = 1 << 4;

bool close_files(int first, unsigned last, unsigned flags) noexcept {
  return syscall(kCloseRange, static_cast<unsigned>(first), last, flags) == 0;
}

}  // namespace

void accept_nudges() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // no SA_RESTART: the call returns EINTR
    sigaction(kNudgeSignal, &action, nullptr);
  });
}

void fence_all_threads() noexcept {
  static const bool registered = syscall(kMembarrier, kRegisterPrivateExpedited, 0, 0) == 0;
  if (!registered || syscall(kMembarrier, kPrivateExpedited, 0, 0) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Interruptible::interrupt() noexcept {
  interrupted_.store(true);
  fence_all_threads();  // now every later enter() sees it, and what entered before is seen below
  while (inside_.load()) {
    // The signal may come just before the call blocks: then the next one wakes it. A number, not a pthread_t,
    // which must not be used once its thread has ended.
    syscall(SYS_tgkill, getpid(), thread_.load(std::memory_order_relaxed), kNudgeSignal);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

int Interruptible::own_thread() noexcept {
  thread_local const int number = static_cast<int>(syscall(SYS_gettid));
  return number;
}

void own_files(std::vector<int> kept) noexcept {
  std::sort(kept.begin(), kept.end());
  if (kept.empty() || kept.front() < 0 || !close_files(kept.back() + 1, kLastFile, kUnshare)) {
    return;
  }
  int next = STDERR_FILENO + 1;
  for (const int file : kept) {
    if (file > next) {
      close_files(next, static_cast<unsigned>(file - 1), 0);
    }
    next = std::max(next, file + 1);
  }
}

void Threads::start(std::function<void()> body) {
  const std::lock_guard lock(mutex_);
  reap();
  Entry& entry = entries_.emplace_back();
  try {
    entry.thread = std::thread([&entry, body = std::move(body)] {
      body();
      entry.ended.store(true, std::memory_order_release);
    });
  } catch (...) {
    entries_.pop_back();
    throw;
  }
}

void Threads::join() {
  std::list<Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(entries_);
  }
  for (Entry& entry : entries) {
    entry.thread.join();
  }
}

std::size_t Threads::running() {
  const std::lock_guard lock(mutex_);
  reap();
  return entries_.size();
}

void Threads::reap() {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->ended.load(std::memory_order_acquire)) {
      entry->thread.join();
      entry = entries_.erase(entry);
    } else {
      ++entry;
    }
  }
}

}  // namespace wulf
