#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace wulf::tests {

/// A folder in a machine's root's place: made-up files of /proc and /sys. It goes with the test.
class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "wulf-tree-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  Tree(Tree&&) = delete;
  Tree& operator=(Tree&&) = delete;
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  /// Writes one file, whose path begins with a slash, as in the root that this is.
  Tree& put(const std::string& name, const std::string& text) {
    const std::filesystem::path file = path_ + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return *this;
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace wulf::tests
