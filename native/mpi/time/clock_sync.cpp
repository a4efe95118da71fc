#include "mpi/time/clock_sync.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstring>
#include <thread>

#include "core/host/small_file.hpp"

namespace wulf::mpi {
namespace {

constexpr int kAsk = 21;
constexpr int kShow = 22;
constexpr int kModel = 23;
constexpr double kNano = 1e-9;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

using HostKey = std::array<char, 128>;

/// What ranks that read one clock have in common: the kernel's boot and the time namespace, since
/// CLOCK_MONOTONIC may be another in each (time_namespaces(7)).
HostKey host_key() {
  std::array<char, PATH_MAX> space{};
  const ssize_t length = readlink("/proc/self/ns/time", space.data(), space.size() - 1);  // < 0: none here
  const std::string text =
      line_in("/proc/sys/kernel/random/boot_id") + " " + (length > 0 ? space.data() : "");
  HostKey key{};
  std::strncpy(key.data(), text.c_str(), key.size() - 1);
  return key;
}

/// Rank → the lowest rank that reads the same clock.
std::vector<int> leaders_of(MPI_Comm comm, bool trust_host) {
  const HostKey mine = host_key();
  std::vector<HostKey> all(static_cast<std::size_t>(size_of(comm)));
  MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_CHAR, all.data(),
                static_cast<int>(mine.size()), MPI_CHAR, comm);
  std::vector<int> leaders;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const bool known = trust_host && all[rank].front() != ' ';  // without a boot id nobody knows
    const auto first =
        known ? std::find(all.begin(), all.end(), all[rank]) : all.begin() + static_cast<long>(rank);
    leaders.push_back(static_cast<int>(first - all.begin()));
  }
  return leaders;
}

/// Asks `partner` for its clock; answer() is the other side.
Exchange ask(MPI_Comm comm, const Clock& own, int partner) {
  Exchange exchange;
  const char more = 1;
  exchange.sent = own();
  MPI_Send(&more, 1, MPI_CHAR, partner, kAsk, comm);
  MPI_Recv(&exchange.shown, 1, MPI_INT64_T, partner, kShow, comm, MPI_STATUS_IGNORE);
  exchange.received = own();
  return exchange;
}

void end_asking(MPI_Comm comm, int partner) {
  const char more = 0;
  MPI_Send(&more, 1, MPI_CHAR, partner, kAsk, comm);
}

void answer(MPI_Comm comm, const Clock& own, int partner) {
  while (true) {
    char more = 0;
    MPI_Recv(&more, 1, MPI_CHAR, partner, kAsk, comm, MPI_STATUS_IGNORE);
    if (more == 0) {
      return;
    }
    const Nanoseconds shown = own();
    MPI_Send(&shown, 1, MPI_INT64_T, partner, kShow, comm);
  }
}

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

void send_model(MPI_Comm comm, const ClockModel& model, int rank) {
  MPI_Send(&model, sizeof model, MPI_BYTE, rank, kModel, comm);
}

ClockModel receive_model(MPI_Comm comm, int rank) {
  ClockModel model;
  MPI_Recv(&model, sizeof model, MPI_BYTE, rank, kModel, comm, MPI_STATUS_IGNORE);
  return model;
}

/// The leaders' part: one learns from one that knows, and then teaches.
ClockModel learn_from_leaders(MPI_Comm comm, const Clock& own, const std::vector<int>& leaders,
                              const LearnSettings& settings) {
  const int index =
      static_cast<int>(std::find(leaders.begin(), leaders.end(), rank_in(comm)) - leaders.begin());
  ClockModel model{.origin = own()};
  for (const Lesson& lesson : lessons(index, static_cast<int>(leaders.size()))) {
    const int partner = leaders[static_cast<std::size_t>(lesson.partner)];
    if (!lesson.learns) {
      answer(comm, own, partner);
      send_model(comm, model, partner);
      continue;
    }
    const ClockModel near = learn_clock([&] { return ask(comm, own, partner); }, sleep_for, settings);
    end_asking(comm, partner);
    model = merged(near, receive_model(comm, partner));
  }
  return model;
}

}  // namespace

void SharedClock::wait_until(Nanoseconds time) const {
  static const auto cpus = static_cast<int>(std::thread::hardware_concurrency());
  const Nanoseconds end = model_.own(time);
  while (own_() < end) {
    if (neighbours_ > cpus) {
      sched_yield();
    }
  }
}

SharedClock synchronise(MPI_Comm comm, Clock own, const SyncSettings& settings) {
  const std::vector<int> leader_of = leaders_of(comm, settings.trust_host);
  std::vector<int> leaders = leader_of;
  std::sort(leaders.begin(), leaders.end());
  leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
  const int rank = rank_in(comm);
  const int leader = leader_of[static_cast<std::size_t>(rank)];
  ClockModel model;
  if (rank == leader) {
    model = learn_from_leaders(comm, own, leaders, settings.learn);
    for (int other = rank + 1; other < static_cast<int>(leader_of.size()); ++other) {
      if (leader_of[static_cast<std::size_t>(other)] == rank) {
        send_model(comm, model, other);
      }
    }
  } else {
    model = receive_model(comm, leader);
  }
  const auto neighbours = static_cast<int>(std::count(leader_of.begin(), leader_of.end(), leader));
  const int here = settings.trust_host ? neighbours : static_cast<int>(leader_of.size());
  return {std::move(own), model, leader == 0, here};
}

std::vector<Residual> residuals(MPI_Comm comm, const Clock& own, const SharedClock& clock) {
  constexpr int kExchanges = 50;
  constexpr Nanoseconds kLongest = 10 * kMillisecond;
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  Residual mine;
  for (int other = 1; other < size; ++other) {
    if (rank == 0) {
      answer(comm, own, other);
    } else if (rank == other && !clock.shared()) {
      const Sighting seen = sight([&] { return ask(comm, own, 0); }, kExchanges, kLongest);
      mine = {kNano * static_cast<double>(clock.model().other(seen.at) - seen.at - seen.ahead),
              kNano * static_cast<double>(seen.error)};
    }
    if (rank == other) {
      end_asking(comm, 0);
    }
  }
  std::vector<Residual> all(rank == 0 ? static_cast<std::size_t>(size) : 0);
  MPI_Gather(&mine, 2, MPI_DOUBLE, all.data(), 2, MPI_DOUBLE, 0, comm);
  return all;
}

Json describe_clocks(MPI_Comm comm, const SharedClock& clock) {
  std::array<double, 3> mine{static_cast<double>(clock.model().error) * kNano, std::abs(clock.model().skew),
                             clock.shared() ? 0.0 : 1.0};
  std::array<double, 3> worst{};
  MPI_Reduce(mine.data(), worst.data(), 3, MPI_DOUBLE, MPI_MAX, 0, comm);
  Json json{{"shared", worst[2] == 0}, {"error", worst[0]}, {"drift", worst[1]}};
  if (worst[2] == 0) {
    json["note"] = "all ranks are on one host (equal boot id) and read one clock: nothing to correct";
  }
  return json;
}

}  // namespace wulf::mpi
