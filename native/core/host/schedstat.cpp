#include "core/host/schedstat.hpp"

#include <sstream>

#include "core/host/small_file.hpp"

namespace wulf {

std::optional<ScheduleStat> parse_schedstat(const std::string& text) {
  std::istringstream words(text);
  ScheduleStat stat{};
  if (words >> stat.ran >> stat.waited >> stat.turns) {
    return stat;
  }
  return std::nullopt;
}

std::optional<ScheduleStat> own_schedstat() { return parse_schedstat(line_in(kOwnSchedstat)); }

}  // namespace wulf
