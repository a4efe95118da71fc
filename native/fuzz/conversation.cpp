#include "fuzz/conversation.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "core/json/error.hpp"
#include "core/json/lines.hpp"

namespace wulf::fuzz {
namespace {

/// A file in memory: a session reads and writes descriptors.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (fd_ < 0) {
      std::abort();
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  MemoryFile(MemoryFile&&) = delete;
  MemoryFile& operator=(MemoryFile&&) = delete;
  ~MemoryFile() { close(fd_); }

  [[nodiscard]] int fd() const { return fd_; }

  [[nodiscard]] std::string text() const {
    std::string text(static_cast<std::size_t>(lseek(fd_, 0, SEEK_END)), '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(pread(fd_, text.data(), text.size(), 0), 0)));
    return text;
  }

 private:
  int fd_;
};

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

std::size_t requests_in(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    count += is_blank(text.substr(0, end)) ? 0 : 1;
    text.remove_prefix(end + 1);
  }
  return count;  // what has no end is no line yet
}

/// Every line an answer; how many there are.
std::size_t answers_in(const std::string& text) {
  LineSplitter lines(text.size());
  lines.feed(text);
  std::size_t count = 0;
  while (const auto line = lines.next()) {
    const Json answer = Json::parse(line->text);
    const bool good = answer.at("ok").get<bool>();
    if (!good && answer.at("error").at("code").get<std::string>() == "internal") {
      std::abort();  // an exception that nobody foresaw
    }
    ++count;
  }
  return count;
}

}  // namespace

void converse(std::map<std::string, Operation> operations, const std::uint8_t* data, std::size_t size) {
  const MemoryFile in;
  const MemoryFile out;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!write_all(in.fd(), text) || lseek(in.fd(), 0, SEEK_SET) != 0) {
    std::abort();
  }
  {
    Session session(std::move(operations), in.fd(), out.fd());
    session.serve();
  }  // waits for what is in progress
  if (answers_in(out.text()) != requests_in(text)) {
    std::abort();
  }
}

}  // namespace wulf::fuzz
