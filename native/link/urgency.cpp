#include "link/urgency.hpp"

#include <sched.h>

namespace wulf::link {

/// Under a real-time policy the thread comes before programs that poll for its frames; it is worth that only
/// where it waits for a CPU. One that sleeps, in a virtual machine, takes a tenth of a millisecond to wake,
/// and a real-time thread is woken where it was. And RT throttling stops one that takes all of a CPU for 50
/// ms a second (sched(7)), while the kernel's own threads, which hand frames over, wait for it.
void Urgency::follow(Nanoseconds current) {
  if (current < next_) {
    return;
  }
  const ScheduleStat spent = own_schedstat().value_or(spent_);
  const auto wall = static_cast<double>(current - since_);
  const auto share = [wall](std::uint64_t time) { return static_cast<double>(time) / wall; };
  const bool wanted = worth(urgent_, share(spent.ran - spent_.ran), share(spent.waited - spent_.waited));
  if (wanted != urgent_ && set(wanted)) {
    urgent_ = wanted;
  }
  spent_ = spent;
  since_ = current;
  next_ = current + kWindow;
}

/// False where this user may not.
bool Urgency::set(bool urgent) {
  const sched_param lowest{.sched_priority = urgent ? sched_get_priority_min(SCHED_FIFO) : 0};
  return sched_setscheduler(0, urgent ? SCHED_FIFO : SCHED_OTHER, &lowest) == 0;
}

}  // namespace wulf::link
