#include "link/line.hpp"

#include <algorithm>

namespace wulf::link {

Fate Line::admit(std::size_t bytes, Nanoseconds current) {
  ++counts_.frames;
  counts_.bytes += bytes;
  if (bytes > static_cast<std::size_t>(setting_.mtu) + kHeader + kTag) {
    ++counts_.too_long;
    return {};
  }
  if (queue_full(current)) {
    ++counts_.queue_full;
    return {};
  }
  const Nanoseconds sent = send(bytes, current);
  if (happens(setting_.loss)) {  // after sending: a frame that is lost on the way has used the line
    ++counts_.lost;
    return {};
  }
  const Nanoseconds arrival = hand_over(travel(sent));
  const bool twice = happens(setting_.duplicate);
  counts_.duplicated += twice ? 1 : 0;
  return {.copies = twice ? 2U : 1U, .arrival = arrival};
}

bool Line::queue_full(Nanoseconds current) {
  while (!starts_.empty() && starts_.front() <= current) {
    starts_.pop_front();
  }
  return free_at_ > current && starts_.size() >= static_cast<std::size_t>(setting_.queue);
}

Nanoseconds Line::send(std::size_t bytes, Nanoseconds current) {
  if (setting_.rate <= 0) {
    free_at_ = std::max(free_at_, current);  // behind what an earlier rate still holds
    return free_at_;
  }
  if (free_at_ > current) {
    starts_.push_back(free_at_);
  } else {
    free_at_ = current;
    remainder_ = 0;
  }
  const auto length = static_cast<double>(bytes + static_cast<std::size_t>(setting_.overhead));
  remainder_ += length * 8 / setting_.rate * static_cast<double>(kSecond);
  const auto whole = static_cast<Nanoseconds>(remainder_);
  remainder_ -= static_cast<double>(whole);
  free_at_ += whole;
  return free_at_;
}

Nanoseconds Line::travel(Nanoseconds sent) {
  if (happens(setting_.reorder)) {
    ++counts_.reordered;
    return sent;
  }
  Nanoseconds delay = setting_.delay;
  if (setting_.jitter > 0) {
    delay += std::uniform_int_distribution<Nanoseconds>(-setting_.jitter, setting_.jitter)(random_);
  }
  last_arrival_ = std::max(last_arrival_, sent + delay);
  return last_arrival_;
}

Nanoseconds Line::hand_over(Nanoseconds arrived) {
  if (setting_.moderate <= 0 || arrived < batch_start_) {  // the latter has overtaken the whole batch
    return arrived + setting_.moderate;
  }
  if (arrived > batch_end_) {
    batch_start_ = arrived;
    batch_end_ = arrived + setting_.moderate;
  }
  return batch_end_;
}

bool Line::happens(double share) {
  constexpr double kSteps = 0x1p53;  // what a double can tell apart below 1
  constexpr unsigned kUnused = 11;
  return share > 0 && static_cast<double>(random_() >> kUnused) / kSteps < share;
}

}  // namespace wulf::link
