#include "mpi/plain/farm/team.hpp"

namespace wulf::mpi {

TeamWork::TeamWork(int threads, const std::function<std::unique_ptr<Work>()>& make) {
  for (int i = 0; i < threads; ++i) {
    members_.push_back(make());
  }
  for (std::size_t member = 1; member < members_.size(); ++member) {
    threads_.emplace_back([this, member] { serve(member); });
  }
}

TeamWork::~TeamWork() {
  ending_ = true;
  ++batch_;
  batch_.notify_all();
}

void TeamWork::done(std::span<const std::uint32_t> inputs, std::byte* digests) {
  inputs_ = inputs;
  digests_ = digests;
  if (inputs.size() > 1) {
    busy_ = static_cast<std::uint32_t>(threads_.size());
    ++batch_;
    batch_.notify_all();
  }
  part(0);
  for (std::uint32_t left = busy_; left > 0; left = busy_) {
    busy_.wait(left);
  }
}

void TeamWork::serve(std::size_t member) {
  for (std::uint32_t seen = 0;; ++seen) {
    batch_.wait(seen);
    if (ending_) {
      return;
    }
    part(member);
    if (--busy_ == 0) {
      busy_.notify_one();
    }
  }
}

void TeamWork::part(std::size_t member) {
  const auto edge = [&](std::size_t at) { return inputs_.size() * at / members_.size(); };
  // The caller has the last share, which is never empty.
  const std::size_t place = members_.size() - 1 - member;
  const std::size_t first = edge(place);
  members_[member]->done(inputs_.subspan(first, edge(place + 1) - first), digests_ + (first * kDigestBytes));
}

}  // namespace wulf::mpi
