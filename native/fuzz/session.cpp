#include "fuzz/conversation.hpp"
#include "fuzz/targets.hpp"
#include "net/client/run.hpp"
#include "net/service.hpp"

namespace wulf::fuzz {
namespace {

/// wulf-net's operations up to the point where they would open a socket.
std::map<std::string, Operation> operations() {
  return {{"ping", {[](const Json&) { return Json::object(); }}},
          {"describe", {[](const Json&) {
             return Json{{"describe", net::Service::describe()}};
           }}},
          {"serve", {[](const Json& request) {
             return Json{{"address", net::Service::read_serve(request).address.text()}};
           }}},
          {"run",
           {[](const Json& request) {
              net::check_run(request);
              return Json::object();
            },
            /*lengthy=*/true}}};
}

}  // namespace

void session(const std::uint8_t* data, std::size_t size) { converse(operations(), data, size); }

}  // namespace wulf::fuzz
