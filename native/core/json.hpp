#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace wulf {

/// JSON whose objects keep the order in which they were written, since people read sessions too.
using Json = nlohmann::ordered_json;

/// No message of ours comes near it. Copying and printing a value recurse into it, so that text nested a
/// hundred thousand deep, which fits into one line, would end the process by using up its stack.
constexpr std::size_t kDeepestJson = 64;

/// The value of text from outside; discarded (`is_discarded()`, and of no other type) where it is no JSON, or
/// nested deeper than kDeepestJson.
[[nodiscard]] Json parse_json(std::string_view text);

}  // namespace wulf
