#include <algorithm>
#include <string>
#include <utility>

#include "core/json/error.hpp"
#include "fuzz/conversation.hpp"
#include "fuzz/targets.hpp"
#include "replay/service.hpp"

namespace wulf::fuzz {
namespace {

constexpr double kMost = 128;             ///< ranks or rounds of a schedule: more of them only take longer
constexpr int kMostJoined = 3;            ///< requests that join programs: each could double what there is
constexpr std::size_t kMostPrograms = 4;  ///< of one of them

bool is_large(const Json::Member& member) {
  return (member.name == "ranks" || member.name == "rounds") && member.value.is_number() &&
         member.value.get<double>() > kMost;
}

/// Whether a value names a file, of which any of this host's could be meant, or asks for what takes long.
bool is_left_alone(const Json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return text == "file" || text.find('/') != std::string::npos;
  }
  if (value.is_array()) {
    return std::any_of(value.begin(), value.end(), is_left_alone);
  }
  return value.is_object() && std::ranges::any_of(value.members(), [](const Json::Member& each) {
           return is_large(each) || is_left_alone(each.value);
         });
}

/// The operation, one after the other, for requests that leave this host's files alone.
Operation held_back(Operation operation) {
  return {[handle = std::move(operation.handle)](const Json& request) {
    if (is_left_alone(request) || request.contains("trace") || request.contains("goal")) {
      throw Error("bad-parameter", "left alone");
    }
    return handle(request);
  }};
}

/// The operation that carries out collectives: it names algorithms, no files.
Operation of_few_ranks(Operation operation) {
  return {[handle = std::move(operation.handle)](const Json& request) {
    if (std::ranges::any_of(request.members(), is_large)) {
      throw Error("bad-parameter", "left alone");
    }
    return handle(request);
  }};
}

}  // namespace

void questions(const std::uint8_t* data, std::size_t size) {
  replay::Service service;
  std::map<std::string, Operation> operations = service.operations();
  for (const char* const makes_files : {"spill", "write"}) {
    operations.erase(makes_files);
  }
  for (auto& [name, operation] : operations) {
    operation = name == "expand" ? of_few_ranks(std::move(operation)) : held_back(std::move(operation));
  }
  int joined = 0;
  operations.at("join") = {[&joined, join = operations.at("join").handle](const Json& request) {
    const Json* programs = request.find("programs");
    if (++joined > kMostJoined ||
        (programs != nullptr && programs->is_array() && programs->size() > kMostPrograms)) {
      throw Error("bad-parameter", "left alone");
    }
    return join(request);
  }};
  converse(std::move(operations), data, size);
}

}  // namespace wulf::fuzz
