#include "mpi/plain/farm/nearness.hpp"

#include <set>
#include <sstream>
#include <vector>

#include "core/host/small_file.hpp"

namespace wulf::mpi {
namespace {

/// The CPUs of "0-3,8".
std::vector<int> cpus_of(const std::string& list) {
  std::vector<int> cpus;
  std::istringstream text(list);
  for (int first = 0; text >> first; text.ignore(1, ',')) {
    int last = first;
    if (text.peek() == '-') {
      text.ignore();
      text >> last;
    }
    for (; first <= last; ++first) {
      cpus.push_back(first);
    }
  }
  return cpus;
}

/// What a file of /sys says of each of these CPUs; an empty line where it says nothing.
std::set<std::string> said_of(const std::vector<int>& cpus, const std::string& folder,
                              const std::string& name) {
  std::set<std::string> lines;
  for (const int cpu : cpus) {
    std::string path = folder;
    path.append("/cpu").append(std::to_string(cpu)).append("/topology/").append(name);
    lines.insert(line_in(path));
  }
  return lines;
}

/// Whether all of them are known, and in one.
bool in_one(const std::set<std::string>& lines) { return lines.size() == 1 && !lines.begin()->empty(); }

}  // namespace

std::string nearness(const std::string& master_host, const std::string& master_cpus,
                     const std::string& worker_host, const std::string& worker_cpus,
                     const std::string& cpus) {
  if (worker_host != master_host) {
    return "other node";
  }
  std::vector<int> both = cpus_of(master_cpus);
  const std::vector<int> workers = cpus_of(worker_cpus);
  if (both == workers && both.size() == 1) {
    return "same CPU";
  }
  const auto masters_sockets = said_of(both, cpus, "physical_package_id");
  const auto workers_sockets = said_of(workers, cpus, "physical_package_id");
  both.insert(both.end(), workers.begin(), workers.end());
  // Before Linux 5.3 the list of a core's CPUs had the other name.
  if (in_one(said_of(both, cpus, "core_cpus_list")) || in_one(said_of(both, cpus, "thread_siblings_list"))) {
    return "same core";
  }
  if (!in_one(masters_sockets) || !in_one(workers_sockets)) {
    return "same node";
  }
  return masters_sockets == workers_sockets ? "same socket" : "other socket";
}

}  // namespace wulf::mpi
