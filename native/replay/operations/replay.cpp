#include <thread>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/operations/answers.hpp"
#include "replay/run/engine.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

Json described(const Run& run, const Network& network, const RunOptions& options) {
  Json json{{"network", network.name},
            {"seconds", to_seconds(run.time)},
            {"ps", run.time},
            {"inversions", run.inversions},
            {"events", run.events}};
  if (options.ends) {
    json["ranks"] = run.ends;
  }
  if (options.parts) {
    json["parts"] = {{"compute", run.parts.compute},
                     {"latency", run.parts.latency},
                     {"bytes", run.parts.bytes},
                     {"overhead", run.parts.overhead},
                     {"waiting", run.parts.waiting}};
  }
  return json;
}

class Replay final : public Question {
 public:
  Replay()
      : Question("replay",
                 "a program's time on each network; detail: of each rank; parts: where it goes, which "
                 "takes a pass for each network") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    refuse_unknown_fields(request,
                          {"id", "op", "program", "networks", "engine", "detail", "parts", "threads"});
    const auto loaded = programs.of(request);
    const std::vector<Network> networks = parse_networks(request, loaded->program.ranks());
    const Engine& engine =
        Registry<Engine>::at(request.contains("engine") ? text_field(request, "engine") : "a", "engine");
    const RunOptions options{.ends = flag_field(request, "detail", false),
                             .parts = flag_field(request, "parts", true),
                             .threads = threads(request)};
    const std::vector<Run> runs = engine.run(loaded->program, networks, options);
    Json list = Json::array();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      list.push_back(described(runs[i], networks[i], options));
    }
    return {{"runs", std::move(list)}};
  }

 private:
  static unsigned threads(const Json& request) {
    constexpr int kMost = 1024;
    return request.contains("threads") ? static_cast<unsigned>(int_field(request, "threads", 1, kMost))
                                       : std::max(1U, std::thread::hardware_concurrency());
  }
};

const Registered<Question> registered_replay{std::make_unique<Replay>()};

}  // namespace
}  // namespace wulf::replay
