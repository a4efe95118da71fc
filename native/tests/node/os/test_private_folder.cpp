#include <fcntl.h>
#include <sys/wait.h>

#include <filesystem>
#include <string>

#include "core/host/file.hpp"
#include "core/json/error.hpp"
#include "node/os/private_folder.hpp"
#include "node/os/unavailable.hpp"
#include "tests/catch.hpp"
#include "tests/tree.hpp"

namespace {

using namespace wulf::node;
using wulf::File;
using wulf::tests::Tree;

TEST_CASE("a private folder goes with all its files, however many") {
  const Tree tree;
  {
    const PrivateFolder folder(tree.path());
    for (int i = 0; i < 1000; ++i) {
      const File file(openat(folder.fd(), std::to_string(i).c_str(), O_CREAT | O_WRONLY, 0600));
      REQUIRE(file.fd() >= 0);
    }
    CHECK(std::distance(std::filesystem::directory_iterator(tree.path()), {}) == 1);
  }
  CHECK(std::filesystem::is_empty(tree.path()));
  CHECK_THROWS_AS(PrivateFolder("relative"), wulf::Error);
  CHECK_THROWS_AS(PrivateFolder(tree.path() + "/absent"), Unavailable);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
}

}  // namespace
