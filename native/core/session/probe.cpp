#include "core/session/probe.hpp"

namespace wulf {

Json Outcome::answer() const {
  Json json{{"metrics", metrics}, {"seconds", seconds}, {"counters", counters}};
  if (!during.is_null()) {
    json["during"] = during;
  }
  json["info"] = info;
  return json;
}

std::vector<Param> Probe::all_params() const {
  std::vector<Param> list = params();
  for (Param& param : common_params()) {
    list.push_back(std::move(param));
  }
  return list;
}

Json Probe::describe() const {
  Json json{{"name", name_}};
  if (!group_.empty()) {
    json["group"] = group_;
  }
  json["help"] = help_;
  json.update(needs());
  describe_into(json, all_params(), metrics());
  return json;
}

}  // namespace wulf
