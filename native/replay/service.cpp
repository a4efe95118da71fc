#include "replay/service.hpp"

#include <new>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/run/engine.hpp"
#include "replay/targets/target.hpp"

namespace wulf::replay {
namespace {

/// [{"name", "help"}, …] of the parts of one kind.
template <typename Kind>
Json listed() {
  Json list = Json::array();
  for (const Kind* each : Registry<Kind>::all()) {
    list.push_back({{"name", each->name()}, {"help", each->help()}});
  }
  return list;
}

Json answered(const Question& question, const Json& request, Programs& programs) {
  try {
    return question.answer(request, programs);
  } catch (const std::bad_alloc&) {
    throw Error("memory", "there is no memory for it: `spill` keeps large arrays in files instead");
  }
}

}  // namespace

std::uint64_t Programs::add(Loaded loaded) {
  auto kept = std::make_shared<const Loaded>(std::move(loaded));
  const std::lock_guard lock(mutex_);
  programs_[++last_] = std::move(kept);
  return last_;
}

std::shared_ptr<const Loaded> Programs::of(const Json& request) const {
  const auto number = static_cast<std::uint64_t>(int_field(request, "program", 1, INT64_MAX));
  const std::lock_guard lock(mutex_);
  const auto found = programs_.find(number);
  if (found == programs_.end()) {
    throw bad_parameter("program",
                        "there is no program " + std::to_string(number) + " in this session: load it first");
  }
  return found->second;
}

void Programs::drop(const Json& request) {
  const std::shared_ptr<const Loaded> kept = of(request);  // freed outside of the lock
  const std::lock_guard lock(mutex_);
  programs_.erase(request.at("program").get<std::uint64_t>());
}

std::map<std::string, Operation> Service::operations() {
  std::map<std::string, Operation> operations;
  for (const Question* each : Registry<Question>::all()) {
    operations[each->name()] = {
        [this, each](const Json& request) { return answered(*each, request, programs_); },
        /*lengthy=*/true};
  }
  return operations;
}

Json Service::describe() {
  return {{"questions", listed<Question>()},
          {"sources", listed<Source>()},
          {"targets", listed<Target>()},
          {"engines", listed<Engine>()}};
}

}  // namespace wulf::replay
