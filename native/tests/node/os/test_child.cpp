#include <sys/wait.h>
#include <unistd.h>

#include "node/os/child.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

TEST_CASE("a child ends with the object that stands for it, and is waited for") {
  {
    const Child sleeper([] { return pause(); });
  }
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // none is left
  Child done([] { return 3; });
  CHECK(WEXITSTATUS(done.wait()) == 3);
}

}  // namespace
