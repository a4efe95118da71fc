#include <array>
#include <string>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/program/builder.hpp"
#include "replay/program/source.hpp"

namespace wulf::replay {
namespace {

constexpr std::int64_t kLongest = 1LL << 60U;  // 13 days
constexpr std::int64_t kMostBytes = 1LL << 60U;
constexpr std::int64_t kMostSlots = 1 << 24U;

/// One step of a rank, such as ["send", 3, 8, 0, 1], and where it stands.
class StepReader {
 public:
  StepReader(const Json& step, std::uint32_t rank, std::size_t number)
      : step_(step), rank_(rank), number_(number) {
    if (!step.is_array() || step.empty() || !step.at(0).is_string()) {
      throw wrong(
          "must be a list such as "
          R"(["send", peer, bytes, tag, slot])");
    }
  }

  [[nodiscard]] std::string kind() const { return step_.at(0).get<std::string>(); }

  void expect(std::size_t values) const {
    if (step_.size() != values + 1) {
      throw wrong("must have " + std::to_string(values) + " values behind its name");
    }
  }

  [[nodiscard]] std::int64_t value(std::size_t place, std::int64_t most) const {
    const Json& given = step_.at(place);
    if (!given.is_integer() || given.get<std::int64_t>() < 0 || given.get<std::int64_t>() > most) {
      throw wrong("must have an integer from 0 to " + std::to_string(most) + " as its value " +
                  std::to_string(place));
    }
    return given.get<std::int64_t>();
  }

  /// null: any.
  [[nodiscard]] bool any(std::size_t place) const { return step_.at(place).is_null(); }

  [[nodiscard]] Error wrong(const std::string& what) const {
    return bad_parameter("ranks", "step " + std::to_string(number_) + " of rank " + std::to_string(rank_) +
                                      " is " + step_.dump() + ", but " + what);
  }

 private:
  const Json& step_;
  std::uint32_t rank_;
  std::size_t number_;
};

void add_post(ProgramBuilder& builder, std::uint32_t rank, const StepReader& step, bool sends) {
  constexpr std::size_t kPeer = 1;
  constexpr std::size_t kBytes = 2;
  constexpr std::size_t kTag = 3;
  constexpr std::size_t kSlot = 4;
  step.expect(kSlot);
  const std::uint32_t peer =
      !sends && step.any(kPeer) ? kAnyPeer : static_cast<std::uint32_t>(step.value(kPeer, kAnyPeer - 1));
  const std::uint64_t tag =
      !sends && step.any(kTag) ? kAnyTag : static_cast<std::uint64_t>(step.value(kTag, INT64_MAX));
  const auto bytes = static_cast<std::uint64_t>(step.value(kBytes, kMostBytes));
  const auto slot = static_cast<std::uint32_t>(step.value(kSlot, kMostSlots));
  if (sends) {
    builder.add_send(rank, peer, bytes, tag, slot);
  } else {
    builder.add_recv(rank, peer, bytes, tag, slot);
  }
}

void add(ProgramBuilder& builder, std::uint32_t rank, const StepReader& step) {
  const std::string kind = step.kind();
  if (kind == "send" || kind == "recv") {
    add_post(builder, rank, step, kind == "send");
    return;
  }
  if (kind != "calc" && kind != "wait") {
    throw step.wrong("must be calc, send, recv or wait");
  }
  step.expect(1);
  if (kind == "calc") {
    builder.add_calc(rank, step.value(1, kLongest));
  } else {
    builder.add_wait(rank, static_cast<std::uint32_t>(step.value(1, kMostSlots)));
  }
}

/// {"program": {"ranks": [[["calc", ps], ["send" or "recv", peer, bytes, tag, slot], ["wait", slot], …],
/// …]}}.
class GivenProgram final : public Source {
 public:
  GivenProgram()
      : Source(
            "program",
            "the steps of each rank, as they stand: calc ps; send or recv peer bytes tag slot; wait slot. A "
            "receive's peer or tag may be null: any") {}

  [[nodiscard]] Loaded load(const Json& value, const Json& /*collectives*/,
                            std::int64_t compute) const override {
    if (!value.is_object() || !value.contains("ranks") || !value.at("ranks").is_array() ||
        value.at("ranks").empty()) {
      throw bad_parameter("ranks", R"(a program must be an object such as {"ranks": [[["calc", 5]], []]})");
    }
    refuse_unknown_fields(value, {"ranks"});
    const Json& ranks = value.at("ranks");
    ProgramBuilder builder(static_cast<std::uint32_t>(ranks.size()), compute);
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      const Json& steps = ranks.at(rank);
      if (!steps.is_array()) {
        throw bad_parameter("ranks", "rank " + std::to_string(rank) + " is " + steps.dump() +
                                         ", but must be a list of steps");
      }
      for (std::size_t i = 0; i < steps.size(); ++i) {
        add(builder, rank, StepReader(steps.at(i), rank, i));
      }
    }
    Loaded loaded;
    loaded.program = builder.finish();
    return loaded;
  }
};

const Registered<Source> registered_given_program{std::make_unique<GivenProgram>()};

}  // namespace
}  // namespace wulf::replay
