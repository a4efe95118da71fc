#include <cstdlib>

#include "fuzz/conversation.hpp"
#include "fuzz/targets.hpp"
#include "link/service.hpp"
#include "link/setting.hpp"

namespace wulf::fuzz {
namespace {

/// wulf-link's operations on links that are not there: `open` and `calibrate` would touch devices of this
/// host.
std::map<std::string, Operation> operations_of(link::Service& service) {
  std::map<std::string, Operation> operations = service.operations();
  operations.erase("open");
  operations.erase("calibrate");
  return operations;
}

/// A setting that was read says the same when it is read again.
Json settle(const Json& request) {
  const Json described = link::describe_setting(link::parse_setting(request.value("params", Json::object())));
  if (link::describe_setting(link::parse_setting(described)) != described) {
    std::abort();
  }
  return described;
}

}  // namespace

void link(const std::uint8_t* data, std::size_t size) {
  static link::Service service;
  std::map<std::string, Operation> operations = operations_of(service);
  operations["settle"] = {settle};
  converse(std::move(operations), data, size);
}

}  // namespace wulf::fuzz
