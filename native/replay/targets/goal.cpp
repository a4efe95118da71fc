#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/error.hpp"
#include "core/session/registry.hpp"
#include "replay/targets/plain.hpp"
#include "replay/targets/target.hpp"
#include "replay/targets/text_file.hpp"

namespace wulf::replay {
namespace {

/// One rank's operations. Each waits for the begin of the one before it, and for the end of what the rank has
/// waited for: where that is all it has posted, it begins a group of those that read_goal takes as one.
class GoalRankText {
 public:
  GoalRankText(const Program& program, std::uint32_t rank, PlainTags& tags, TextFile& out)
      : program_(program),
        tags_(tags),
        out_(out),
        first_(program.first[rank]),
        labels_(program.first[rank + 1] - first_) {}

  void write() {
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      take(static_cast<std::uint32_t>(i));
    }
  }

 private:
  /// Operation `index` of the rank.
  void take(std::uint32_t index) {
    const Messages& messages = program_.messages;
    const std::uint32_t arg = program_.arg[first_ + index];
    switch (program_.kind[first_ + index]) {
      case OpKind::kCalc:
        if (const Picoseconds whole = nanoseconds_.of(program_.durations[arg]); whole > 0) {
          begin();
          out_.put("calc ", whole, "\n");
          depend(false);
          computes_ = true;
        }
        break;
      case OpKind::kSend:
        post(index);
        out_.put("send ", program_.bytes_of(arg), "b to ", messages.to[arg]);
        end_post(messages.tag[arg], true);
        break;
      case OpKind::kRecv:
        post(index);
        out_.put("recv ", program_.bytes_of(arg), "b from ", messages.from[arg]);
        end_post(messages.tag[arg], false);
        break;
      case OpKind::kRecvLive:
        first_live_ = live_.empty() ? arg : first_live_;
        post(index);
        live_.push_back(label_);
        out_.put("recv 0b from ");  // of whichever size the message is
        if (program_.live.peer[arg] == kAnyPeer) {
          out_.put("-1");
        } else {
          out_.put(program_.live.peer[arg]);
        }
        end_post(program_.live.tag[arg], false);
        break;
      case OpKind::kWaitSend:
        wait(labels_[messages.send_op[arg] - first_]);
        break;
      case OpKind::kWaitRecv:
        wait(labels_[messages.recv_op[arg] - first_]);
        break;
      case OpKind::kWaitLive:
        wait(live_[arg - first_live_]);  // a rank's are numbered as they are posted
        break;
    }
  }

  void wait(std::uint32_t label) {
    awaited_.push_back(label);
    --open_;
  }

  void begin() { out_.put("l", ++label_, ": "); }

  void post(std::uint32_t index) {
    begin();
    labels_[index] = label_;
  }

  void end_post(std::uint64_t tag, bool sends) {
    out_.put(" tag ");
    if (tag == kAnyTag) {
      out_.put("-1");
    } else {
      out_.put(tags_.of(tag));
    }
    out_.put("\n");
    depend(sends);
    computes_ = false;
    ++open_;
  }

  /// What the last operation depends on. Computing has ended where the next one begins, since both need the
  /// CPU; only a receive is posted without it.
  void depend(bool sends) {
    if (open_ == 0) {
      for (const std::uint32_t each : group_) {
        put_edge("requires", each);
      }
      group_.clear();
    } else {
      for (const std::uint32_t each : awaited_) {
        put_edge("requires", each);
      }
      if (std::find(awaited_.begin(), awaited_.end(), label_ - 1) == awaited_.end()) {
        put_edge(computes_ && !sends ? "requires" : "irequires", label_ - 1);
      }
    }
    awaited_.clear();
    group_.push_back(label_);
  }

  void put_edge(std::string_view kind, std::uint32_t on) { out_.put("l", label_, " ", kind, " l", on, "\n"); }

  const Program& program_;
  PlainTags& tags_;
  TextFile& out_;
  std::uint32_t first_;
  std::vector<std::uint32_t> labels_;  ///< by operation that posts
  std::vector<std::uint32_t> live_;    ///< the same of receives that are matched live
  std::uint32_t first_live_ = 0;
  std::uint32_t label_ = 0;             ///< the last one; the first is 1
  bool computes_ = false;               ///< the last one does
  std::uint32_t open_ = 0;              ///< messages that are not waited for
  std::vector<std::uint32_t> awaited_;  ///< since the last operation
  std::vector<std::uint32_t> group_;    ///< since no message was open
  WholeNanoseconds nanoseconds_;
};

class GoalTarget final : public Target {
 public:
  GoalTarget() : Target("goal", "a GOAL schedule, as text; computing in nanoseconds") {}

  void write(const Loaded& loaded, const std::string& place) const override {
    const Program& program = loaded.program;
    if (!program.graph.empty()) {
      throw bad_parameter("program",
                          "it is a graph: the GOAL schedule that it was loaded from says all of it");
    }
    if (!loaded.kept.empty()) {
      throw bad_parameter("program", "collectives of it are calls, of which GOAL has none: load it without");
    }
    TextFile out(place);
    PlainTags tags;
    out.put("num_ranks ", program.ranks(), "\n");
    for (std::uint32_t rank = 0; rank < program.ranks(); ++rank) {
      out.put("\nrank ", rank, " {\n");
      GoalRankText(program, rank, tags, out).write();
      out.put("}\n");
    }
    out.finish();
  }
};

const Registered<Target> registered_goal_target{std::make_unique<GoalTarget>()};

}  // namespace
}  // namespace wulf::replay
