#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace wulf::replay {

/// A text file that is written from its begin; what was there is gone.
class TextFile {
 public:
  /// Throws `write`, with the system's reason, where it can't be written.
  explicit TextFile(const std::string& path);
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  TextFile(TextFile&&) = delete;
  TextFile& operator=(TextFile&&) = delete;
  ~TextFile();

  /// Appends words and whole numbers. Errors as the constructor's.
  template <typename... Parts>
  void put(Parts... parts) {
    (add(parts), ...);
    if (text_.size() >= kFull) {
      write_out();
    }
  }
  /// All is handed to the system. Errors as the constructor's.
  void finish() { write_out(); }

 private:
  static constexpr std::size_t kFull = 1U << 16U;

  void add(std::string_view words) { text_ += words; }
  void add(std::integral auto number) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text_.append(digits.data(), end);
  }
  void write_out();

  std::string text_;
  int descriptor_;
};

}  // namespace wulf::replay
