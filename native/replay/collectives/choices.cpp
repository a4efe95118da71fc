#include "replay/collectives/choices.hpp"

#include <algorithm>
#include <cctype>

#include "replay/collectives/call.hpp"

namespace wulf::replay {
namespace {

/// Both libraries keep from cutting a vector into more blocks than it has elements. Traces have bytes: these
/// are those of a double.
constexpr std::uint64_t kElementBytes = 8;

bool fits(const Choice& choice, int ranks, std::uint64_t bytes) {
  return (choice.ranks_below == 0 || ranks < choice.ranks_below) &&
         (choice.bytes_below == 0 || bytes < choice.bytes_below) &&
         (!choice.power_of_two || is_power_of_two(ranks));
}

std::string for_short_vectors(const std::string& op, const std::string& way) {
  if (op == "allreduce" && (way == "ring" || way == "rabenseifner")) {
    return "recursive-doubling";
  }
  return op == "reduce" && way == "rabenseifner" ? "binomial" : way;
}

}  // namespace

const Library& library_of(const std::string& mpi) {
  std::string lower = mpi;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* each : {"mpich", "intel", "mvapich", "cray"}) {
    if (lower.find(each) != std::string::npos) {
      return kMpich;
    }
  }
  return kOpenMpi;
}

const Library* find_library(const std::string& name) {
  for (const Library* each : {&kOpenMpi, &kMpich}) {
    if (name == each->name) {
      return each;
    }
  }
  return nullptr;
}

std::string choose(const Library& library, const std::string& op, int ranks, std::uint64_t block,
                   std::uint64_t total) {
  for (const Decision& decision : library.decisions) {
    if (op != decision.op) {
      continue;
    }
    for (const Choice& choice : decision.choices) {
      if (fits(choice, ranks, decision.total ? total : block)) {
        const bool is_short = block < kElementBytes * static_cast<std::uint64_t>(ranks);
        return is_short ? for_short_vectors(op, choice.way) : choice.way;
      }
    }
  }
  return "linear";
}

}  // namespace wulf::replay
