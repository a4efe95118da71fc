#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "core/json/json.hpp"
#include "core/json/params.hpp"

namespace wulf {

/// The parts of one kind (transports, patterns, probes) that this program was linked with. A part registers
/// itself by a namespace-scope `const Registered<Kind> registered{std::make_unique<Part>()};`: an addition is
/// one file.
template <typename Kind>
class Registry {
 public:
  /// The part of that name, or null.
  [[nodiscard]] static const Kind* find(const std::string& name) {
    for (const auto& part : parts()) {
      if (part->name() == name) {
        return part.get();
      }
    }
    return nullptr;
  }

  /// The part of that name. Throws bad-parameter, with `field`, that lists those there are.
  [[nodiscard]] static const Kind& at(const std::string& name, const std::string& field) {
    if (const Kind* part = find(name)) {
      return *part;
    }
    std::string known;
    for (const Kind* each : all()) {
      known += (known.empty() ? "" : ", ") + each->name();
    }
    throw bad_parameter(field, "there is no " + field + " '" + name + "'; known: " + known);
  }

  /// The part that the request's field names. Throws bad-parameter.
  [[nodiscard]] static const Kind& named_in(const Json& request, const std::string& field) {
    return at(text_field(request, field), field);
  }

  /// All parts, by name.
  [[nodiscard]] static std::vector<const Kind*> all() {
    std::vector<const Kind*> list;
    for (const auto& part : parts()) {
      list.push_back(part.get());
    }
    std::sort(list.begin(), list.end(), [](const Kind* a, const Kind* b) { return a->name() < b->name(); });
    return list;
  }

  /// What --describe says of each part, by name.
  [[nodiscard]] static Json describe() {
    Json list = Json::array();
    for (const Kind* each : all()) {
      list.push_back(each->describe());
    }
    return list;
  }

  static void add(std::unique_ptr<Kind> part) { parts().push_back(std::move(part)); }

 private:
  /// Inside a function, so that it exists whichever file is initialised first.
  static std::vector<std::unique_ptr<Kind>>& parts() {
    static std::vector<std::unique_ptr<Kind>> instance;
    return instance;
  }
};

template <typename Kind>
struct Registered {
  explicit Registered(std::unique_ptr<Kind> part) { Registry<Kind>::add(std::move(part)); }
};

}  // namespace wulf
