#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wulf {

/// Cuts a stream of bytes into lines. Pure: whoever reads the bytes feeds them in.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t longest) : longest_(longest) {}

  struct Line {
    std::string text;
    bool too_long = false;  ///< the line went beyond the limit; its text is dropped
  };

  void feed(std::string_view bytes) { pending_ += bytes; }

  /// The next line, without its end; nothing while none is complete.
  [[nodiscard]] std::optional<Line> next();

 private:
  std::size_t longest_;
  std::string pending_;
  bool skipping_ = false;
};

/// Writes all of `text` to a descriptor, blocking or not, in one piece where the system allows. False when
/// nobody reads there any more.
bool write_all(int fd, std::string_view text);

}  // namespace wulf
