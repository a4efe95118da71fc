#include <unistd.h>

#include "node/os/scratch.hpp"
#include "node/os/unavailable.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

TEST_CASE("a scratch file is where it was asked for, and without a folder there is none") {
  const ScratchFile file("/tmp", 4096);
  CHECK(lseek(file.file(), 0, SEEK_END) == 4096);
  CHECK_THROWS_AS(ScratchFile("/no/such/folder", 1), Unavailable);
}

}  // namespace
