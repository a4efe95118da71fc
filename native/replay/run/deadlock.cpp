#include <algorithm>
#include <string>

#include "replay/run/run.hpp"

namespace wulf::replay {

Error deadlock(const Program& program, std::span<const Blocked> blocked) {
  constexpr std::size_t kNamed = 10;
  std::string text = std::to_string(blocked.size()) + " of " + std::to_string(program.ranks()) +
                     " ranks wait for one another, so the program never ends: ";
  for (std::size_t i = 0; i < std::min(kNamed, blocked.size()); ++i) {
    text += (i == 0 ? "rank " : "; rank ") + std::to_string(blocked[i].rank) + " at its " +
            program.describe(blocked[i].op);
  }
  if (blocked.size() > kNamed) {
    text += "; and " + std::to_string(blocked.size() - kNamed) + " more";
  }
  return {"deadlock", text +
                          ". A program that ended when it was traced may still do so where sends are eager: "
                          "compare eager_bytes with the sizes above"};
}

}  // namespace wulf::replay
