#include "replay/goal/goal.hpp"

#include <string_view>

#include "core/json/error.hpp"
#include "fuzz/targets.hpp"
#include "replay/program/builder.hpp"

namespace wulf::fuzz {

void goal(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    (void)replay::read_goal(bytes, "fuzz.goal", replay::ProgramBuilder::kUnscaled);
  } catch (const Error&) {  // refused: whoever gave the file is told
    return;
  }
}

}  // namespace wulf::fuzz
