#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.hpp"
#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/choices.hpp"
#include "replay/lower/comms.hpp"
#include "replay/lower/emitter.hpp"

namespace wulf::replay {

/// How collectives are carried out: the request's `collectives`.
///
/// {"allreduce": "ring", "bcast": "chain:65536" (with segments of so many bytes), "library": "mpich",
///  "reduction": 1e-10 (seconds a byte that a rank reduces), "nonblocking": "at-call", "world": "calls"
///  (those of MPI_COMM_WORLD that a root and two sizes tell all of stay calls)}
class CollectiveRules {
 public:
  /// `mpi`: as the trace names its library. Throws bad-parameter for an operation or algorithm that there is
  /// not.
  CollectiveRules(const Json& collectives, const std::string& mpi);

  /// The algorithm of a call. `op` is MPI's name in small letters, without its i: "allgatherv".
  [[nodiscard]] const Algorithm& algorithm_of(const std::string& op, Call& call) const;

  /// The name of an operation whose calls on MPI_COMM_WORLD stay what they are; none: it becomes messages.
  [[nodiscard]] std::optional<std::string_view> kept(const std::string& op) const;

  /// Picoseconds a byte of a reduction, with 20 fractional bits.
  [[nodiscard]] std::int64_t reduction_fp() const { return reduction_fp_; }
  [[nodiscard]] const Library& library() const { return *library_; }
  /// Of the networks that the program is for, the largest message that none makes wait for its receive.
  [[nodiscard]] std::uint64_t eager_bytes() const { return eager_bytes_; }
  /// Whether all steps of the non-blocking forms are posted at the call; only where it was asked for.
  [[nodiscard]] bool posts_all_at_call() const { return posts_all_; }

 private:
  void take(const std::string& op, const Json& value);
  void take_algorithm(const std::string& op, const std::string& way);

  struct Chosen {
    std::string way;
    std::uint64_t segment = 0;
  };
  const Library* library_;
  std::map<std::string, Chosen> chosen_;
  std::int64_t reduction_fp_;
  std::uint64_t eager_bytes_ = UINT64_MAX;
  bool posts_all_ = false;
  bool keeps_ = false;
};

/// "allgather" for "allgatherv": whose algorithms carry it out.
[[nodiscard]] std::string family_of(const std::string& op);

/// Carries out a blocking collective: each step is the rank's next operation.
class DirectSteps final : public Steps {
 public:
  DirectSteps(Emitter& emitter, const Comm& comm, std::uint64_t tag, std::int64_t reduction_fp)
      : emitter_(emitter), comm_(comm), tag_(tag), reduction_fp_(reduction_fp) {}

  Token send(int peer, const Part& part) override { return emitter_.send(world(peer), part.bytes(), tag_); }
  Token receive(int peer, const Part& part) override {
    return emitter_.receive(world(peer), part.bytes(), tag_);
  }
  void wait(Token token) override { emitter_.wait(token); }
  void reduce(const Part& from, const Part& to) override;
  void copy(const Part&, const Part&) override {}

 private:
  [[nodiscard]] std::uint32_t world(int peer) const {
    return static_cast<std::uint32_t>(comm_.members[static_cast<std::size_t>(peer)]);
  }

  Emitter& emitter_;
  const Comm& comm_;
  std::uint64_t tag_;
  std::int64_t reduction_fp_;
};

/// A non-blocking collective between its call and its completion.
class PendingCollective final : public Steps {
 public:
  PendingCollective(const Comm& comm, std::uint64_t tag, std::int64_t reduction_fp)
      : members_(comm.members), tag_(tag), reduction_fp_(reduction_fp) {}

  Token send(int peer, const Part& part) override { return add(Kind::kSend, peer, part.bytes()); }
  Token receive(int peer, const Part& part) override { return add(Kind::kReceive, peer, part.bytes()); }
  void wait(Token token) override { steps_.push_back({Kind::kWait, token, 0}); }
  void reduce(const Part& from, const Part& to) override;
  void copy(const Part&, const Part&) override {}

  /// What is posted at the call: the steps before the first wait, or all posts.
  void begin(Emitter& emitter, bool post_all);
  /// The rest, at its completion.
  void finish(Emitter& emitter);

 private:
  enum class Kind : std::uint8_t { kSend, kReceive, kWait, kCompute };
  struct Step {
    Kind kind;
    std::uint32_t who;  ///< a peer in the world, or a token
    std::uint64_t bytes;
  };
  Token add(Kind kind, int peer, std::uint64_t bytes);
  void carry_out(const Step& step, Emitter& emitter);

  const std::vector<std::int32_t>& members_;  ///< only while steps are added
  std::uint64_t tag_;
  std::int64_t reduction_fp_;
  std::vector<Step> steps_;
  std::size_t next_ = 0;
  std::vector<std::uint32_t> slots_;  ///< by token, in the order of the posts
  Token tokens_ = 0;
};

}  // namespace wulf::replay
