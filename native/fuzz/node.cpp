#include "fuzz/conversation.hpp"
#include "fuzz/targets.hpp"
#include "node/service.hpp"

namespace wulf::fuzz {

void node(const std::uint8_t* data, std::size_t size) {
  const auto run = [](const Json& request) {
    node::check_run(request);
    return Json::object();
  };
  converse({{"run", {run, /*lengthy=*/true}}}, data, size);
}

}  // namespace wulf::fuzz
