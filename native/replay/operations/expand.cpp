#include <string>
#include <utility>
#include <vector>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/collectives/algorithm.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

constexpr std::int64_t kMostExpandedBytes = 1LL << 60U;  ///< of a vector, and of all blocks of one
constexpr std::int64_t kMostExpandedRanks = 1LL << 20U;

/// A rank's messages in rounds: what is posted until the rank waits is waited for before it posts more.
class Rounds final : public Steps {
 public:
  Token send(int peer, const Part& part) override { return post("send", peer, part); }
  Token receive(int peer, const Part& part) override { return post("recv", peer, part); }
  void wait(Token /*token*/) override { waits_ = true; }
  void reduce(const Part& /*from*/, const Part& /*to*/) override {}
  void copy(const Part& /*from*/, const Part& /*to*/) override {}

  [[nodiscard]] Json take() {
    close();
    return std::move(rounds_);
  }

 private:
  Token post(const char* way, int peer, const Part& part) {
    if (waits_) {
      close();
    }
    round_.push_back(Json::array({way, peer, part.bytes()}));
    return tokens_++;
  }
  void close() {
    waits_ = false;
    if (!round_.empty()) {
      rounds_.push_back(std::exchange(round_, Json::array()));
    }
  }

  Json rounds_ = Json::array();
  Json round_ = Json::array();
  bool waits_ = false;
  Token tokens_ = 0;
};

/// The request's list of bytes by rank; preset: nothing.
Blocks blocks_field(const Json& request, const std::string& name, int ranks) {
  const Json* found = request.find(name);
  if (found == nullptr) {
    return Blocks::equal(0, ranks);
  }
  if (!found->is_array() || found->size() != static_cast<std::size_t>(ranks)) {
    throw bad_parameter(name, name + " must be a list of the bytes of " + std::to_string(ranks) + " ranks");
  }
  std::vector<std::uint64_t> sizes;
  std::int64_t left = kMostExpandedBytes;
  for (const Json& each : *found) {
    const std::int64_t bytes = int_field({{name, each}}, name, 0, left);
    left -= bytes;
    sizes.push_back(static_cast<std::uint64_t>(bytes));
  }
  return Blocks::of(sizes);
}

class Expand final : public Question {
 public:
  Expand()
      : Question(
            "expand",
            "what one rank sends and receives in a collective, carried out by an algorithm: rounds, each of "
            "which is waited for before the next") {}

  [[nodiscard]] Json answer(const Json& request, Programs& /*programs*/) const override {
    refuse_unknown_fields(request,
                          {"id", "op", "algorithm", "ranks", "rank", "root", "bytes", "give", "take"});
    const auto& algorithm = Registry<Algorithm>::named_in(request, "algorithm");
    Call call;
    call.size = static_cast<int>(int_field(request, "ranks", 1, kMostExpandedRanks));
    call.me = static_cast<int>(int_field(request, "rank", 0, call.size - 1));
    call.root = static_cast<int>(int_or(request, "root", 0, 0, call.size - 1));
    call.bytes = static_cast<std::uint64_t>(int_or(request, "bytes", 0, 0, kMostExpandedBytes));
    call.give = blocks_field(request, "give", call.size);
    call.take = blocks_field(request, "take", call.size);
    Rounds rounds;
    algorithm.expand(call, rounds);
    return {{"rounds", rounds.take()}};
  }
};

const Registered<Question> registered_expand{std::make_unique<Expand>()};

}  // namespace
}  // namespace wulf::replay
