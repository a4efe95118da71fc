#include "fuzz/targets.hpp"

#ifndef WULF_FUZZ_TARGET
#define WULF_FUZZ_TARGET session  // the build names one of targets.hpp; this is what a linter reads
#endif

/// libFuzzer's entry.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wulf::fuzz::WULF_FUZZ_TARGET(data, size);
  return 0;
}
