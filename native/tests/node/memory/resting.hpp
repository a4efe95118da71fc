#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace wulf::tests {

/// Bytes of this process that the kernel may take as they are.
inline std::size_t resting_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    if (std::size_t kib = 0; word == "LazyFree:" && file >> kib) {
      return kib * 1024;
    }
  }
  return 0;
}

}  // namespace wulf::tests
