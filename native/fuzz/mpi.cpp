#include "fuzz/conversation.hpp"
#include "fuzz/targets.hpp"
#include "mpi/service.hpp"

namespace wulf::fuzz {

void mpi(const std::uint8_t* data, std::size_t size) {
  constexpr int kRanks = 2;
  const auto run = [](const Json& request) {
    wulf::mpi::check_run(request, kRanks);
    return Json::object();
  };
  const auto bind = [](const Json& request) { return Json{{"cpu", wulf::mpi::cpu_of(request, 0, kRanks)}}; };
  converse({{"run", {run, /*lengthy=*/true}}, {"bind", {bind, true}}}, data, size);
}

}  // namespace wulf::fuzz
