#pragma once

#include <cstddef>

namespace wulf::profile {

/// A row of calls.txt.
struct Row {
  const char* name;
  const char* kind;
};

/// Made from calls.txt, as the wrappers are.
extern const Row rows[];
extern const std::size_t row_count;

}  // namespace wulf::profile
