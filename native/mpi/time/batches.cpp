#include "mpi/time/batches.hpp"

#include <array>

namespace wulf::mpi {
namespace {

// The probes' own messages have tags from 10 on.
constexpr int kOrderTag = 1;
constexpr int kReady = 2;

}  // namespace

void Crew::tell(const Order& order) const {
  const std::array<std::int64_t, 3> words{order.count, order.what, order.extra};
  for (const int follower : followers_) {
    MPI_Send(words.data(), static_cast<int>(words.size()), MPI_INT64_T, follower, kOrderTag, comm_);
  }
  for (std::size_t i = 0; order.count > 0 && i < followers_.size(); ++i) {
    MPI_Recv(nullptr, 0, MPI_BYTE, followers_[i], kReady, comm_, MPI_STATUS_IGNORE);
  }
}

Order Crew::told() const {
  std::array<std::int64_t, 3> words{};
  MPI_Recv(words.data(), static_cast<int>(words.size()), MPI_INT64_T, leader_, kOrderTag, comm_,
           MPI_STATUS_IGNORE);
  return {words[0], words[1], words[2]};
}

void Crew::ready() const { MPI_Send(nullptr, 0, MPI_BYTE, leader_, kReady, comm_); }

Json Batches::time(double parts) const {
  std::vector<double> times = each_;
  for (double& time : times) {
    time /= parts;
  }
  return summary("s", std::move(times), static_cast<std::uint64_t>(operations_));
}

Json Batches::rate(const std::string& unit, double per_operation) const {
  std::vector<double> rates;
  rates.reserve(each_.size());
  for (const double time : each_) {
    rates.push_back(per_operation / time);
  }
  return summary(unit, std::move(rates), static_cast<std::uint64_t>(operations_));
}

}  // namespace wulf::mpi
