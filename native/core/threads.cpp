#include "core/threads.hpp"

namespace wulf {

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
