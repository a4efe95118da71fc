#include "node/os/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/host/threads.hpp"
#include "node/os/unavailable.hpp"

namespace wulf::node {
namespace {

std::string resolved(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  return failed ? path : real.string();
}

/// mountinfo writes space, tab, newline and backslash as three octal digits behind a backslash.
std::string without_escapes(const std::string& text) {
  constexpr std::size_t kDigits = 3;
  constexpr int kOctal = 8;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + kDigits < text.size()) {
      plain += static_cast<char>(std::strtol(text.substr(i + 1, kDigits).c_str(), nullptr, kOctal));
      i += kDigits;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool holds(const std::string& mount, const std::string& path) {
  return mount == "/" || path == mount || path.starts_with(mount + "/");
}

}  // namespace

File open_file(const std::string& path, int flags) {
  File file(open(path.c_str(), flags | O_CLOEXEC));
  if (file.fd() < 0) {
    throw Unavailable("cannot open " + path, errno);
  }
  return file;
}

void private_files() noexcept { own_files({STDERR_FILENO}); }

std::string ordinary_file() {
  const std::string usual = "/etc/passwd";
  return access(usual.c_str(), R_OK) == 0 ? usual : own_program();
}

bool fill(int fd, std::size_t bytes) {
  constexpr std::size_t kPiece = std::size_t{8} << 10U;
  const std::string piece(kPiece, 'w');
  for (std::size_t written = 0; written < bytes;) {
    const ssize_t some = write(fd, piece.data(), std::min(kPiece, bytes - written));
    if (some <= 0) {
      return false;
    }
    written += static_cast<std::size_t>(some);
  }
  return true;
}

std::string own_program() {
  std::error_code failed;
  const std::string path = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  if (failed || access(path.c_str(), X_OK) != 0) {
    throw Unavailable("this program's own file cannot be found by /proc/self/exe (" +
                      (failed ? failed.message() : path) + "): is /proc mounted, or was it replaced?");
  }
  return path;
}

Json mount_of(const std::string& mountinfo, const std::string& path) {
  std::string best;
  Json type = nullptr;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::string mount;
    words >> word >> word >> word >> word >> mount;
    mount = without_escapes(mount);
    while (words >> word && word != "-") {  // options, and any number of tags
    }
    // of several mounts at one place the last one is seen
    if (words >> word && holds(mount, path) && mount.size() >= best.size()) {
      best = mount;
      type = word;
    }
  }
  return {{"mount", best.empty() ? Json(nullptr) : Json(best)}, {"type", type}};
}

Json file_system_of(const std::string& path) {
  const std::ifstream file("/proc/self/mountinfo");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string real = resolved(path);
  Json json{{"path", real}};
  json.update(mount_of(text.str(), real));
  return json;
}

Json behind(const std::string& path) { return {{"path", path}, {"is", resolved(path)}}; }

}  // namespace wulf::node
