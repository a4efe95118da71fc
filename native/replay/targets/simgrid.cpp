#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "core/json/error.hpp"
#include "core/session/registry.hpp"
#include "replay/targets/plain.hpp"
#include "replay/targets/target.hpp"
#include "replay/targets/text_file.hpp"

namespace wulf::replay {
namespace {

/// One rank's actions. What is waited for at once is a blocking send or receive; receives that are matched
/// live have no action.
class SimGridRankText {
 public:
  SimGridRankText(const Loaded& loaded, std::uint32_t rank, PlainTags& tags, TextFile& out)
      : program_(loaded.program), rank_(rank), tags_(tags), out_(out) {}

  /// `kept` goes on to the first call of the next rank.
  void write(std::span<const KeptCall>& kept) {
    begin("init\n");
    const std::uint32_t end = program_.first[rank_ + 1];
    for (std::uint32_t op = program_.first[rank_]; op <= end; ++op) {
      for (; !kept.empty() && kept.front().rank == rank_ && kept.front().op == op; kept = kept.subspan(1)) {
        call(kept.front());
      }
      if (op < end) {
        const bool at_once = waits_for(op) && (kept.empty() || kept.front().op != op + 1);
        take(op, at_once);
        op += at_once ? 1 : 0;
      }
    }
    begin("finalize\n");
  }

 private:
  template <typename... Parts>
  void begin(Parts... parts) {
    out_.put(rank_, " ", parts...);
  }

  /// Whether the next operation waits for what this one posts.
  [[nodiscard]] bool waits_for(std::uint32_t op) const {
    const OpKind kind = program_.kind[op];
    const OpKind wait = kind == OpKind::kSend ? OpKind::kWaitSend : OpKind::kWaitRecv;
    return (kind == OpKind::kSend || kind == OpKind::kRecv) && op + 1 < program_.first[rank_ + 1] &&
           program_.kind[op + 1] == wait && program_.arg[op + 1] == program_.arg[op];
  }

  void take(std::uint32_t op, bool at_once) {
    const Messages& messages = program_.messages;
    const std::uint32_t arg = program_.arg[op];
    switch (program_.kind[op]) {
      case OpKind::kCalc:
        if (const Picoseconds whole = nanoseconds_.of(program_.durations[arg]); whole > 0) {
          begin("compute ", whole, "\n");
        }
        break;
      case OpKind::kSend:
        begin(at_once ? "send " : "isend ", messages.to[arg], " ", tags_.of(messages.tag[arg]), " ",
              program_.bytes_of(arg), "\n");
        break;
      case OpKind::kRecv:
        begin(at_once ? "recv " : "irecv ", messages.from[arg], " ", tags_.of(messages.tag[arg]), " ",
              program_.bytes_of(arg), "\n");
        break;
      case OpKind::kWaitSend:
      case OpKind::kWaitRecv:
        begin("wait ", messages.from[arg], " ", messages.to[arg], " ", tags_.of(messages.tag[arg]), "\n");
        break;
      case OpKind::kRecvLive:
      case OpKind::kWaitLive:
        break;
    }
  }

  /// Sizes are bytes, since `init` without a word makes MPI_BYTE the type; a reduction takes no flops.
  void call(const KeptCall& kept) {
    begin(kept.call);
    if (kept.call == "bcast") {
      out_.put(" ", kept.bytes, " ", kept.root);
    } else if (kept.call == "reduce") {
      out_.put(" ", kept.bytes, " 0 ", kept.root);
    } else if (kept.call == "allreduce") {
      out_.put(" ", kept.bytes, " 0");
    } else if (kept.call != "barrier") {
      out_.put(" ", kept.bytes, " ", kept.bytes2);
      if (kept.call == "gather" || kept.call == "scatter") {
        out_.put(" ", kept.root);
      }
    }
    out_.put("\n");
  }

  const Program& program_;
  std::uint32_t rank_;
  PlainTags& tags_;
  TextFile& out_;
  WholeNanoseconds nanoseconds_;
};

class SimGridTarget final : public Target {
 public:
  SimGridTarget()
      : Target("simgrid",
               "SimGrid's time-independent traces: rank-000000.txt and so on, in a folder; a nanosecond of "
               "computing is a flop") {}

  void write(const Loaded& loaded, const std::string& place) const override {
    if (!loaded.program.graph.empty()) {
      throw bad_parameter("program", "it is a graph, and SimGrid's ranks do one thing after the other");
    }
    PlainTags tags;
    std::span<const KeptCall> kept = loaded.kept;
    for (std::uint32_t rank = 0; rank < loaded.program.ranks(); ++rank) {
      std::array<char, 32> name{};
      (void)std::snprintf(name.data(), name.size(), "/rank-%06u.txt", rank);
      TextFile out(place + name.data());
      SimGridRankText(loaded, rank, tags, out).write(kept);
      out.finish();
    }
  }
};

const Registered<Target> registered_simgrid_target{std::make_unique<SimGridTarget>()};

}  // namespace
}  // namespace wulf::replay
