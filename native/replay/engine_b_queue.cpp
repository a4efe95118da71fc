#include "replay/engine_b_queue.hpp"

#include <algorithm>

namespace wulf::replay {
namespace {

bool later_key(const Event& a, const Event& b) { return a.key > b.key; }

}  // namespace

void EventQueue::add_late(Event event) {
  late_.push_back(event);
  std::push_heap(late_.begin(), late_.end(), later_key);
}

Event EventQueue::take_late() {
  std::pop_heap(late_.begin(), late_.end(), later_key);
  const Event event = late_.back();
  late_.pop_back();
  return event;
}

/// The lowest bucket's earliest time becomes the last one's; what has it is sorted, the rest moves down.
void EventQueue::refill() {
  const auto lowest = static_cast<unsigned>(std::countr_zero(filled_));
  std::vector<Event>& bucket = buckets_[lowest];
  filled_ &= filled_ - 1;
  last_ = std::min_element(bucket.begin(), bucket.end(), [](const Event& a, const Event& b) {
            return a.time < b.time;
          })->time;
  for (const Event& event : bucket) {
    if (event.time == last_) {
      sorted_.push_back(event);
    } else {
      add(event);
    }
  }
  bucket.clear();
  std::sort(sorted_.begin(), sorted_.end(), later_key);
}

}  // namespace wulf::replay
