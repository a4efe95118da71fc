#include "replay/collectives/algorithm.hpp"

namespace wulf::replay::neighbor {
namespace {

/// Block i of what is given goes to the i-th destination; block i of what is taken comes from the i-th
/// source.
void expand(const Call& call, Steps& steps) {
  std::vector<Steps::Token> tokens;
  for (std::size_t i = 0; i < call.sources.size(); ++i) {
    if (call.sources[i] >= 0) {
      tokens.push_back(steps.receive(call.sources[i], call.take.block(Room::kResult, static_cast<int>(i))));
    }
  }
  for (std::size_t i = 0; i < call.destinations.size(); ++i) {
    if (call.destinations[i] >= 0) {
      tokens.push_back(steps.send(call.destinations[i], call.give.block(Room::kInput, static_cast<int>(i))));
    }
  }
  steps.wait_all(tokens);
}

const Registered<Algorithm> registered{algorithm("neighbor", "linear", "everything posted at once", expand)};

}  // namespace
}  // namespace wulf::replay::neighbor
