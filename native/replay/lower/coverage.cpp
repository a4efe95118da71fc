#include "replay/lower/coverage.hpp"

#include <algorithm>
#include <tuple>

namespace wulf::replay {
namespace {

constexpr double kNanosecond = 1e-9;

}  // namespace

void Coverage::leave_out(const std::string& what, std::uint64_t ns, const std::string& why) {
  Sum& sum = left_out_[what];
  ++sum.calls;
  sum.ns += ns;
  sum.why = why;
}

void Coverage::add_polls(std::uint64_t count, std::uint64_t ns) {
  polls_ += count;
  poll_ns_ += ns;
}

void Coverage::note_once(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) {
    notes_.push_back(text);
  }
}

void Coverage::tell(Loaded& loaded) const {
  std::uint64_t left_ns = 0;
  for (const auto& [what, sum] : left_out_) {
    left_ns += sum.ns;
    loaded.left_out.push_back({what, sum.calls, static_cast<double>(sum.ns) * kNanosecond, sum.why});
  }
  std::sort(loaded.left_out.begin(), loaded.left_out.end(), [](const LeftOut& a, const LeftOut& b) {
    return std::tie(b.seconds, a.what) < std::tie(a.seconds, b.what);
  });
  if (total_ns_ > 0) {
    const std::uint64_t covered = total_ns_ - std::min(left_ns, total_ns_);
    loaded.share = static_cast<double>(covered) / static_cast<double>(total_ns_);
  }
  loaded.notes = notes_;
  if (polls_ > 0) {
    loaded.notes.push_back(std::to_string(polls_) + " tests and probes found nothing, in " +
                           std::to_string(static_cast<double>(poll_ns_) * kNanosecond) +
                           " s of all ranks together: taken as waiting, not as computing");
  }
}

}  // namespace wulf::replay
