#include "fuzz/targets.hpp"

/// libFuzzer's entry; WULF_FUZZ_TARGET is one of targets.hpp.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wulf::fuzz::WULF_FUZZ_TARGET(data, size);
  return 0;
}
