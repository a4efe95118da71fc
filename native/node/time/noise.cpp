#include "node/time/noise.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "node/time/timing.hpp"

namespace wulf::node {

Detours analyse_detours(std::span<const Gap> gaps, std::uint64_t minimum, std::uint64_t longest,
                        std::uint64_t elapsed, double tick) {
  std::uint64_t lost = 0;
  for (const Gap& gap : gaps) {
    lost += gap.length - std::min(minimum, gap.length);
    longest = std::max(longest, gap.length);
  }
  const auto whole = static_cast<double>(std::max<std::uint64_t>(elapsed, 1));
  return {.lost = static_cast<double>(lost) / whole,
          .worst = static_cast<double>(longest) * tick,
          .rate = static_cast<double>(gaps.size()) / (whole * tick)};
}

Json longest_gaps(std::span<const Gap> gaps, std::size_t count, double tick) {
  std::vector<Gap> sorted(gaps.begin(), gaps.end());
  std::sort(sorted.begin(), sorted.end(), [](const Gap& a, const Gap& b) {
    return a.length != b.length ? a.length > b.length : a.at < b.at;
  });
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i) {
    list.push_back({{"at", static_cast<double>(sorted[i].at) * tick},
                    {"length", static_cast<double>(sorted[i].length) * tick}});
  }
  return list;
}

Quanta analyse_quanta(std::span<const std::uint64_t> work, double quantum) {
  const auto most = static_cast<double>(*std::max_element(work.begin(), work.end()));
  double lost = 0;
  double away = 0;  // quanta that the time without us has taken so far
  double worst = 0;
  bool was_empty = false;
  for (const std::uint64_t done : work) {
    const double lack = 1 - (static_cast<double>(done) / most);
    away = was_empty || done == 0 ? away + lack : lack;
    was_empty = done == 0;
    worst = std::max(worst, away);
    lost += lack;
  }
  return {.lost = lost / static_cast<double>(work.size()), .worst = worst * quantum};
}

Json parse_osnoise(const std::string& trace, int cpu) {
  constexpr double kMicro = 1e-6;
  double runtime = 0;
  double noise = 0;
  double worst = 0;
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    // <...>-859  [003] ....  81.637220: 1000000  190  99.98100  9  18 …: runtime, noise, %, worst; in µs
    const std::size_t open = line.find('[');
    const std::size_t colon = line.find(": ");
    if (open == std::string::npos || colon == std::string::npos || line.starts_with("#")) {
      continue;
    }
    int where = -1;
    double available = 0;
    double longest = 0;
    double took = 0;
    double missing = 0;
    std::istringstream place(line.substr(open + 1));
    std::istringstream figures(line.substr(colon + 2));
    if (place >> where && where == cpu && figures >> took >> missing >> available >> longest) {
      runtime += took * kMicro;
      noise += missing * kMicro;
      worst = std::max(worst, longest * kMicro);
    }
  }
  if (runtime <= 0) {
    return nullptr;
  }
  return {{"runtime", runtime}, {"noise", noise}, {"worst", worst}, {"share", noise / runtime}};
}

Json osnoise(const std::string& root, int cpu) {
  constexpr std::size_t kMost = 1U << 20U;
  const std::string folder = root + "/sys/kernel/tracing/";
  errno = 0;
  std::ifstream chosen(folder + "current_tracer");
  std::string tracer;
  if (!(chosen >> tracer)) {
    return no_value("1", folder + "current_tracer cannot be read (" + std::strerror(errno) +
                             "): tracefs is not mounted, or for root alone");
  }
  if (tracer != "osnoise") {
    return no_value("1", "the kernel's tracer is '" + tracer + "'; starting osnoise would change the host");
  }
  std::ifstream file(folder + "trace");
  std::string text(kMost, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const Json found = parse_osnoise(text, cpu);
  if (found.is_null()) {
    return no_value("1", "osnoise runs, but has said nothing of this CPU yet");
  }
  return {{"unit", "1"}, {"value", found.at("share")}, {"of", found}};
}

}  // namespace wulf::node
