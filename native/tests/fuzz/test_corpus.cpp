#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/targets.hpp"
#include "tests/catch.hpp"

namespace {

using Target = void (*)(const std::uint8_t* data, std::size_t size);

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Every input that fuzzing found worth keeping, and each that once broke something. A promise that is broken
/// aborts.
void replay(const std::string& name, Target target) {
  const std::filesystem::path fuzz = WULF_FUZZ_FOLDER;
  std::vector<std::filesystem::path> files = files_in(fuzz / "corpus" / name);
  REQUIRE_FALSE(files.empty());
  if (std::filesystem::exists(fuzz / "crashes" / name)) {
    std::ranges::copy(files_in(fuzz / "crashes" / name), std::back_inserter(files));
  }
  for (const auto& file : files) {
    INFO(file.string());
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    target(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    CHECK(stream);
  }
}

TEST_CASE("the corpus of session runs clean") { replay("session", wulf::fuzz::session); }
TEST_CASE("the corpus of node runs clean") { replay("node", wulf::fuzz::node); }
TEST_CASE("the corpus of link runs clean") { replay("link", wulf::fuzz::link); }
TEST_CASE("the corpus of header runs clean") { replay("header", wulf::fuzz::header); }
TEST_CASE("the corpus of proc runs clean") { replay("proc", wulf::fuzz::proc); }
TEST_CASE("the corpus of perf runs clean") { replay("perf", wulf::fuzz::perf); }
TEST_CASE("the corpus of questions runs clean") { replay("questions", wulf::fuzz::questions); }
TEST_CASE("the corpus of trace runs clean") { replay("trace", wulf::fuzz::trace); }
TEST_CASE("the corpus of goal runs clean") { replay("goal", wulf::fuzz::goal); }
TEST_CASE("the corpus of replay runs clean") { replay("replay", wulf::fuzz::replay); }

}  // namespace
