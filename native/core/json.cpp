#include "core/json.hpp"

#include <algorithm>

namespace wulf {
namespace {

/// How deep arrays and objects stand in each other; exact for JSON, and any number for what is none.
std::size_t nesting(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char each = text[i];
    if (in_string && each == '\\') {
      ++i;  // whatever was escaped ends no string
    } else if (each == '"') {
      in_string = !in_string;
    } else if (!in_string && (each == '[' || each == '{')) {
      deepest = std::max(deepest, ++depth);
    } else if (!in_string && (each == ']' || each == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Json parse_json(std::string_view text) {
  if (nesting(text) > kDeepestJson) {
    return Json::value_t::discarded;
  }
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace wulf
