#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/engine_a/detailed.hpp"
#include "replay/lower/call.hpp"
#include "replay/lower/files.hpp"
#include "replay/run/network.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

/// Calls that are alike: by name, size to a power of two, and whom they are with.
struct Alike {
  std::string call;
  std::uint64_t up_to = 0;  ///< bytes; of what waits for requests, those of the largest of them
  std::string with;  ///< "itself", "first" (the first to or from that rank, or the first collective), or ""

  auto operator<=>(const Alike&) const = default;
};

/// One call that differs much.
struct Single {
  std::uint32_t rank = 0;
  std::uint32_t record = 0;
  Picoseconds traced = 0;
  Picoseconds replayed = 0;

  [[nodiscard]] Picoseconds difference() const { return std::abs(traced - replayed); }
};

struct Sum {
  std::uint64_t calls = 0;
  Picoseconds traced = 0;
  Picoseconds replayed = 0;
  Single worst;
};

std::uint64_t bytes_of(const trace::Record& record) {
  const bool told = trace::has(record.op, trace::Field::bytes) || trace::has(record.op, trace::Field::bytes2);
  return told ? std::max(record.bytes, record.bytes2) : 0;
}

/// Calls that no replay has, nor what was measured of a run.
bool is_outside(trace::Op op) {
  return op == trace::Op::finalize || op == trace::Op::abort || op == trace::Op::pcontrol;
}

/// Which of a rank's calls are alike.
class Kinds {
 public:
  explicit Kinds(std::uint32_t rank) : rank_(static_cast<std::int32_t>(rank)) {}

  [[nodiscard]] Alike of(const trace::Record& record) {
    Alike kind{std::string(trace::shape_of(record.op).name), bytes_of(record), ""};
    if (trace::has(record.op, trace::Field::peer)) {
      kind.with = with(record.peer, is_receive(record.op));
    } else if (meets(record.op)) {
      kind.with = met_ ? "" : "first";
      met_ = true;
    }
    for (const trace::Completion& each : record.completions) {
      take_completion(each.request, kind);
    }
    if (trace::has(record.op, trace::Field::request)) {
      requests_[record.request] = {"", kind.up_to, kind.with};
    }
    kind.up_to = std::bit_ceil(kind.up_to);
    return kind;
  }

 private:
  /// Whether all of a communicator take part.
  static bool meets(trace::Op op) {
    return is_collective(op) || (op >= trace::Op::Comm_dup && op <= trace::Op::Comm_connect);
  }

  static bool is_receive(trace::Op op) {
    return op == trace::Op::Recv || op == trace::Op::Irecv || op == trace::Op::Recv_init;
  }

  [[nodiscard]] std::string with(std::int32_t peer, bool receives) {
    if (peer == rank_) {
      return "itself";
    }
    return peer >= 0 && peers_.emplace(peer, receives).second ? "first" : "";
  }

  /// What waits for requests is as large as the largest of them.
  void take_completion(std::int32_t request, Alike& kind) const {
    const auto found = requests_.find(request);
    if (found == requests_.end()) {
      return;
    }
    kind.up_to = std::max(kind.up_to, found->second.up_to);
    kind.with = found->second.with == "first" || kind.with.empty() ? found->second.with : kind.with;
  }

  std::int32_t rank_;
  std::set<std::pair<std::int32_t, bool>> peers_;  ///< sent to, and received from
  std::map<std::int32_t, Alike> requests_;
  bool met_ = false;
};

/// The time of each of a rank's records in a replay: of what it came to but computing between calls.
std::vector<Picoseconds> replayed(const Loaded& loaded, const Workspace<Lanes1>& space, std::uint32_t rank) {
  const Program& program = loaded.program;
  std::vector<Picoseconds> found;
  Picoseconds before = 0;
  for (std::uint32_t op = program.first[rank]; op < program.first[rank + 1]; ++op) {
    const Picoseconds end = space.end(op);
    const std::uint32_t record = program.mark_of(op);
    if (record >= found.size()) {
      found.resize(record + std::size_t{1});
    }
    const bool computes = program.kind[op] == OpKind::kCalc && program.arg[op] < loaded.first_copy;
    found[record] += computes ? 0 : end - before;
    before = end;
  }
  return found;
}

class Calls final : public Question {
 public:
  Calls()
      : Question("calls",
                 "where a trace's calls took longer or shorter than they do in the replay: those that are "
                 "alike together, the largest differences first, at most 'most'; of one 'half' of the "
                 "records, 0 or 1, or of all") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    constexpr std::int64_t kUsual = 20;
    constexpr std::int64_t kMost = 10'000;
    refuse_unknown_fields(request, {"id", "op", "program", "network", "trace", "most", "half"});
    const auto loaded = programs.of(request);
    const Program& program = loaded->program;
    const Network network = network_field(request, program.ranks());
    const std::string folder = text_field(request, "trace");
    const auto most = static_cast<std::size_t>(int_or(request, "most", kUsual, 1, kMost));
    const std::int64_t half = int_or(request, "half", kBoth, 0, 1);
    if (const std::uint32_t ranks = ranks_of_trace(folder); ranks != program.ranks()) {
      throw bad_parameter("trace", folder + " has " + std::to_string(ranks) + " ranks, the program " +
                                       std::to_string(program.ranks()) + ": it was made of another trace");
    }
    const Detailed pass(program, network);
    std::map<Alike, Sum> sums;
    for (std::uint32_t rank = 0; rank < program.ranks(); ++rank) {
      add(folder, rank, replayed(*loaded, pass.space, rank), half, sums);
    }
    return told(sums, most);
  }

 private:
  static constexpr std::int64_t kBoth = -1;
  /// Records that lie in one half together: so few that either half has some of each of a program's phases,
  /// so many that a call and the wait for it are mostly in the same.
  static constexpr std::uint32_t kTogether = 64;

  static void add(const std::string& folder, std::uint32_t rank, const std::vector<Picoseconds>& times,
                  std::int64_t half, std::map<Alike, Sum>& sums) {
    RankFile file(folder, rank);
    Kinds kinds(rank);
    trace::Record record;
    while (file.next(record)) {
      if (!trace::has(record.op, trace::Field::times) || is_outside(record.op)) {
        continue;
      }
      const std::uint32_t number = file.number();
      const Alike kind = kinds.of(record);
      if (half != kBoth && (number / kTogether) % 2 != half) {
        continue;
      }
      const auto took = static_cast<Picoseconds>(record.call_ns + record.between_ns) * kPerNanosecond;
      const Single single{rank, number, took, number < times.size() ? times[number] : 0};
      Sum& sum = sums[kind];
      ++sum.calls;
      sum.traced += single.traced;
      sum.replayed += single.replayed;
      if (sum.calls == 1 || single.difference() > sum.worst.difference()) {
        sum.worst = single;
      }
    }
  }

  static Json told(const std::map<Alike, Sum>& sums, std::size_t most) {
    std::vector<std::pair<Alike, Sum>> order(sums.begin(), sums.end());
    const auto difference = [](const auto& each) {
      return std::abs(each.second.traced - each.second.replayed);
    };
    std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
      return difference(a) != difference(b) ? difference(a) > difference(b) : a.first < b.first;
    });
    Json list = Json::array();
    Picoseconds traced = 0;
    Picoseconds replayed = 0;
    for (const auto& [kind, sum] : order) {
      traced += sum.traced;
      replayed += sum.replayed;
      if (list.size() < most) {
        list.push_back({{"call", kind.call},
                        {"up_to", kind.up_to},
                        {"with", kind.with},
                        {"calls", sum.calls},
                        {"traced_ps", sum.traced},
                        {"replayed_ps", sum.replayed},
                        {"worst",
                         {{"rank", sum.worst.rank},
                          {"mark", sum.worst.record},
                          {"traced_ps", sum.worst.traced},
                          {"replayed_ps", sum.worst.replayed}}}});
      }
    }
    return {{"calls", std::move(list)},
            {"kinds", order.size()},
            {"traced_ps", traced},
            {"replayed_ps", replayed}};
  }
};

const Registered<Question> registered_calls{std::make_unique<Calls>()};

}  // namespace
}  // namespace wulf::replay
