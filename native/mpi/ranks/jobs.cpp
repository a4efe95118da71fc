#include "mpi/ranks/jobs.hpp"

#include <future>

#include "core/json/error.hpp"

namespace wulf::mpi {

Json Jobs::ask(const std::function<Json()>& work) {
  const std::lock_guard turn(one_at_a_time_);
  std::packaged_task<Json()> task(work);
  std::future<Json> answer = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      throw Error("ending", "the session is ending");
    }
    job_ = [&task] { task(); };
  }
  changed_.notify_all();
  return answer.get();
}

void Jobs::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || job_; });
    if (!job_) {
      return;
    }
    const std::function<void()> job = std::move(job_);
    job_ = nullptr;
    busy_ = true;
    lock.unlock();
    job();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

bool Jobs::close(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, patience, [this] { return !busy_ && !job_; });
}

}  // namespace wulf::mpi
