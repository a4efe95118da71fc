#include "replay/lower/comms.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/json/error.hpp"

namespace wulf::replay {
namespace {

/// Members of all communicators of a rank: 256 MiB. A trace names a million of them by fifteen bytes.
constexpr std::uint64_t kMostKept = 1ULL << 26U;

constexpr std::uint32_t kNoParent = UINT32_MAX;     ///< an intercommunicator's differ on its two sides
constexpr std::uint32_t kWindows = UINT32_MAX - 1;  ///< in a parent's place: a window of that communicator

/// SplitMix64's finalizer (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

std::uint64_t checksum(const std::vector<std::int32_t>& members, std::uint64_t seed) {
  std::uint64_t sum = mixed(seed + members.size());
  for (const std::int32_t each : members) {
    sum = mixed(sum + static_cast<std::uint32_t>(each) + 0x9e3779b97f4a7c15U);
  }
  return sum;
}

CommNames::Kind kind_of(std::uint32_t parent, const trace::Record& record) {
  if (record.members2.empty()) {
    return {parent, checksum(record.members, 1), checksum(record.members, 2)};
  }
  const auto& [lower, upper] = std::minmax(record.members, record.members2);
  return {kNoParent, checksum(lower, 1) ^ mixed(checksum(upper, 3)), checksum(lower, 2) ^ checksum(upper, 4)};
}

std::vector<std::int32_t> everyone(std::uint32_t ranks) {
  std::vector<std::int32_t> members(ranks);
  std::iota(members.begin(), members.end(), 0);
  return members;
}

Comm& slot(Comms::Numbered& made, std::int32_t number) {
  if (number < 0) {
    throw Error("trace", "a communicator or window has the number " + std::to_string(number));
  }
  return made[number];
}

Comm& found(Comms::Numbered& made, std::int32_t number, const char* what) {
  const auto place = made.find(number);
  if (place == made.end()) {
    throw Error("trace",
                std::string(what) + " " + std::to_string(number) + " is used before a record makes it");
  }
  return place->second;
}

}  // namespace

std::int32_t Comm::own_rank() const {
  if (me < 0) {
    throw Error("trace", "the rank is no member of its communicator");
  }
  return me;
}

std::int32_t Comm::rank_of(std::int32_t world) {
  const auto index = static_cast<std::size_t>(world);
  if (world >= 0 && index < members.size() && members[index] == world) {
    return world;
  }
  if (rank_of_world.empty()) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      rank_of_world.emplace(members[i], static_cast<std::int32_t>(i));
    }
  }
  const auto place = rank_of_world.find(world);
  return place == rank_of_world.end() ? -1 : place->second;
}

std::uint32_t CommNames::id_of(const Kind& kind, std::uint32_t occurrence) {
  const auto next = static_cast<std::uint32_t>(ids_.size() + 2);  // after the world and the rank itself
  return ids_.try_emplace({kind, occurrence}, next).first->second;
}

Comms::Comms(std::uint32_t rank, std::uint32_t ranks, CommNames& names)
    : rank_(static_cast<std::int32_t>(rank)), names_(names) {
  comms_[0].members = everyone(ranks);
  comms_[0].me = rank_;
  comms_[1].id = 1;
  comms_[1].members = {rank_};
  comms_[1].me = 0;
}

std::uint32_t Comms::id_of(const CommNames::Kind& kind) { return names_.id_of(kind, seen_[kind]++); }

void Comms::take(const trace::Record& record) {
  if (record.op == trace::Op::neighbours) {
    set_neighbours(record);
  } else if (trace::has(record.op, trace::Field::newcomm) && record.newcomm >= 0) {
    add(record);
  } else if (trace::has(record.op, trace::Field::newwin) && record.newwin >= 0) {
    add_window(record);
  }
}

void Comms::add(const trace::Record& record) {
  const std::uint64_t count = record.members.size() + record.members2.size();
  kept_ += count;
  if (kept_ > kMostKept) {
    throw Error("trace", "communicator " + std::to_string(record.newcomm) + " is said to have " +
                             std::to_string(count) + " members, and all so far " + std::to_string(kept_) +
                             ": all may have " + std::to_string(kMostKept));
  }
  const std::uint32_t parent = record.comm >= 0 ? at(record.comm).id : kNoParent;
  Comm made;
  if (record.op == trace::Op::Comm_idup) {  // a copy has its neighbours, of which no note follows yet
    made.sources = at(record.comm).sources;
    made.destinations = at(record.comm).destinations;
  }
  Comm& comm = slot(comms_, record.newcomm);
  comm = std::move(made);
  comm.id = id_of(kind_of(parent, record));
  comm.members = record.members;
  comm.inter = !record.members2.empty() || std::any_of(comm.members.begin(), comm.members.end(),
                                                       [](std::int32_t each) { return each < 0; });
  const auto own = std::find(comm.members.begin(), comm.members.end(), rank_);
  comm.me = own == comm.members.end() ? -1 : static_cast<std::int32_t>(own - comm.members.begin());
}

void Comms::add_window(const trace::Record& record) {
  const Comm& of = at(record.comm);
  Comm& window = slot(windows_, record.newwin);
  window = of;
  window.id = id_of({kWindows, of.id, 0});
  window.collectives = 0;
}

void Comms::set_neighbours(const trace::Record& record) {
  Comm& comm = at(record.comm);
  const auto ranks = [&](const std::vector<std::int32_t>& world) {
    std::vector<std::int32_t> list;
    list.reserve(world.size());
    for (const std::int32_t each : world) {
      list.push_back(each < 0 ? -1 : comm.rank_of(each));
    }
    return list;
  };
  comm.sources = ranks(record.members);
  comm.destinations = ranks(record.members2);
}

Comm& Comms::at(std::int32_t number) { return found(comms_, number, "communicator"); }

Comm& Comms::window(std::int32_t number) { return found(windows_, number, "window"); }

}  // namespace wulf::replay
