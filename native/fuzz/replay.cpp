#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "core/session/registry.hpp"
#include "fuzz/targets.hpp"
#include "replay/program/builder.hpp"
#include "replay/program/source.hpp"
#include "replay/run/engine.hpp"

namespace wulf::fuzz {
namespace {

using replay::Engine;
using replay::Network;
using replay::Source;

/// What names a file is left alone: any of this host's could be meant.
bool names_a_file(const Network& network) {
  return network.topology.is_object() && network.topology.value("kind", Json()) == "file";
}

void run(const Json& request) {
  const replay::Loaded loaded = Registry<Source>::find("program")->load(
      request.value("program", Json()), Json::object(), replay::ProgramBuilder::kUnscaled);
  std::vector<Network> networks = replay::parse_networks(request, loaded.program.ranks());
  std::erase_if(networks, names_a_file);
  for (const Engine* engine : Registry<Engine>::all()) {
    try {
      (void)engine->run(loaded.program, networks, {.ends = true, .parts = true});
    } catch (const Error&) {
      continue;  // refused, or a deadlock: whoever asked is told
    }
  }
}

}  // namespace

void replay(const std::uint8_t* data, std::size_t size) {
  const Json request = parse_json(std::string(reinterpret_cast<const char*>(data), size)).value_or(nullptr);
  if (!request.is_object()) {
    return;
  }
  try {
    run(request);
  } catch (const Error&) {
    return;
  }
}

}  // namespace wulf::fuzz
