#include <filesystem>
#include <string>

#include "node/os/files.hpp"
#include "tests/catch.hpp"
#include "tests/tree.hpp"

namespace {

using namespace wulf::node;
using wulf::Json;
using wulf::tests::Tree;

TEST_CASE("the mount that holds a path: the deepest, and of several at one place the last") {
  const std::string mounts =
      "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
      "30 22 0:26 / /tmp rw shared:9 master:2 - tmpfs tmpfs rw\n"
      "31 22 0:27 / /tmp rw - xfs /dev/sdb rw\n"
      "32 22 0:28 / /with\\040space rw - nfs4 server:/x rw\n";
  CHECK(mount_of(mounts, "/tmp/x").at("type") == "xfs");
  CHECK(mount_of(mounts, "/tmpfiles").at("type") == "ext4");
  CHECK(mount_of(mounts, "/with space/y").at("mount") == "/with space");
  CHECK(mount_of("", "/tmp").at("type").is_null());
}

TEST_CASE("what stands behind a name") {
  Tree tree;
  tree.put("/busybox", "");
  std::filesystem::create_symlink("busybox", tree.path() + "/sh");
  const Json shell = behind(tree.path() + "/sh");
  CHECK(shell.at("is").get<std::string>().ends_with("/busybox"));
  CHECK(behind("/no/shell").at("is") == "/no/shell");
}

}  // namespace
