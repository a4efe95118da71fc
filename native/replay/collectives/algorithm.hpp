#pragma once

#include <string>
#include <vector>

#include "core/session/registry.hpp"
#include "replay/collectives/call.hpp"

namespace wulf::replay {

/// One way in which a collective is carried out. An addition is one file that registers itself.
struct Algorithm {
  std::string op;    ///< "allreduce", as in MPI_Allreduce
  std::string way;   ///< "ring"
  std::string help;  ///< what it does, and whose it is
  void (*expand)(const Call& call, Steps& steps);

  /// "allreduce/ring": its name in the registry.
  [[nodiscard]] std::string name() const { return op + "/" + way; }
};

/// Carries out a call by the algorithm of that name, as a part of another.
inline void expand_as(const std::string& name, const Call& call, Steps& steps) {
  Registry<Algorithm>::at(name, "algorithm").expand(call, steps);
}

inline std::unique_ptr<Algorithm> algorithm(std::string op, std::string way, std::string help,
                                            void (*expand)(const Call&, Steps&)) {
  return std::make_unique<Algorithm>(Algorithm{std::move(op), std::move(way), std::move(help), expand});
}

}  // namespace wulf::replay
