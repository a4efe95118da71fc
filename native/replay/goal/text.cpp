#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "replay/goal/reader.hpp"

namespace wulf::replay {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// By character: whether it stands within a word.
constexpr std::array<bool, 256> in_words() {
  std::array<bool, 256> found{};
  found.fill(true);
  for (const char c : {' ', '\t', '\r', '\f', '\v', '{', '}', ':', '#', '/'}) {
    found[static_cast<unsigned char>(c)] = false;
  }
  return found;
}
constexpr std::array<bool, 256> kInWords = in_words();
bool in_word(char c) { return kInWords[static_cast<unsigned char>(c)]; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/// A rank's labels. Those that programs write, l1, l2 and so on, need no hashing.
class Labels {
 public:
  void clear() {
    numbered_.clear();
    named_.clear();
  }

  /// The operation of a label; kNone where there is none.
  [[nodiscard]] std::uint32_t find(std::string_view label) const {
    if (const std::uint32_t number = number_of(label); number != kNone) {
      return number < numbered_.size() ? numbered_[number] : kNone;
    }
    const auto found = named_.find(label);
    return found == named_.end() ? kNone : found->second;
  }

  /// False where it is taken.
  bool add(std::string_view label, std::uint32_t op) {
    if (find(label) != kNone) {
      return false;
    }
    if (const std::uint32_t number = number_of(label); number != kNone) {
      if (number >= numbered_.size()) {
        numbered_.resize(number + std::size_t{1}, kNone);
      }
      numbered_[number] = op;
    } else {
      named_.emplace(label, op);
    }
    return true;
  }

 private:
  static constexpr std::size_t kMostDigits = 6;

  static std::uint32_t number_of(std::string_view label) {
    if (label.size() < 2 || label.size() > 1 + kMostDigits || label[0] != 'l' ||
        (label[1] == '0' && label.size() > 2)) {
      return kNone;
    }
    std::uint32_t number = 0;
    for (const char c : label.substr(1)) {
      if (!is_digit(c)) {
        return kNone;
      }
      number = (10 * number) + static_cast<std::uint32_t>(c - '0');
    }
    return number;
  }

  std::vector<std::uint32_t> numbered_;
  std::unordered_map<std::string_view, std::uint32_t> named_;
};

/// Statements are lines; braces and colons are words.
class GoalText final : public GoalReader {
 public:
  GoalText(std::string_view text, std::string name)
      : at_(text.data()), end_(text.data() + text.size()), name_(std::move(name)) {
    if (!next_line() || word() != "num_ranks") {
      throw wrong(line_, "a GOAL text begins with 'num_ranks N'");
    }
    ranks_ = static_cast<std::uint32_t>(number(UINT32_MAX - 1));
  }

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] Error wrong(std::uint32_t line, const std::string& what) const override {
    return {"goal", name_ + ", line " + std::to_string(line) + ": " + what};
  }

  bool next(GoalRank& rank) override {
    if (!next_line()) {
      return false;
    }
    expect(word(), "rank");
    rank.rank = static_cast<std::uint32_t>(number(ranks_ - std::uint64_t{1}));
    rank.ops.clear();
    rank.edges.clear();
    labels_.clear();
    if (!more() && !next_line()) {
      throw wrong(line_, "the text ends where '{' should stand");
    }
    expect(word(), "{");
    while (more() || next_line()) {
      const std::string_view first = word();
      if (first == "}") {
        return true;
      }
      take(rank, first);
    }
    throw wrong(line_, "the text ends within rank " + std::to_string(rank.rank));
  }

 private:
  /// Goes to the next line that has a word; false where the text ends.
  bool next_line() {
    while (at_ != end_) {
      const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
      cursor_ = at_;
      line_end_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
      at_ = newline == nullptr ? end_ : line_end_ + 1;
      ++line_;
      if (!in_comment_ || leave_comment()) {
        skip();
        if (more()) {
          return true;
        }
      }
    }
    return false;
  }

  [[nodiscard]] bool more() const { return cursor_ != line_end_; }
  [[nodiscard]] bool starts(const char* two) const {
    return line_end_ - cursor_ >= 2 && cursor_[0] == two[0] && cursor_[1] == two[1];
  }

  /// Past the end of a comment; false where it goes on in the next line.
  bool leave_comment() {
    const std::string_view rest(cursor_, static_cast<std::size_t>(line_end_ - cursor_));
    const std::size_t end = rest.find("*/");
    in_comment_ = end == std::string_view::npos;
    cursor_ = in_comment_ ? line_end_ : cursor_ + end + 2;
    return !in_comment_;
  }

  /// Past blanks and comments: those that end with the line, and those from /* to */, which may be lines
  /// later.
  void skip() {
    while (more()) {
      if (is_blank(*cursor_)) {
        ++cursor_;
      } else if (*cursor_ == '#' || starts("//")) {
        cursor_ = line_end_;
      } else if (starts("/*")) {
        cursor_ += 2;
        leave_comment();
      } else {
        return;
      }
    }
  }

  /// The line's next word.
  std::string_view word() {
    if (!more()) {
      throw wrong(line_, "the line ends where a word is missing");
    }
    const char* const begin = cursor_++;
    if (*begin != '{' && *begin != '}' && *begin != ':') {
      while (more() && (in_word(*cursor_) || (*cursor_ == '/' && !starts("//") && !starts("/*")))) {
        ++cursor_;
      }
    }
    const std::string_view found(begin, static_cast<std::size_t>(cursor_ - begin));
    if (more() && *cursor_ == ' ') {
      ++cursor_;  // one blank and a word: nearly always
    }
    if (more() && !in_word(*cursor_)) {
      skip();
    }
    return found;
  }

  void expect(std::string_view found, std::string_view wanted) const {
    if (found != wanted) {
      throw wrong(line_, "'" + std::string(found) + "' stands where '" + std::string(wanted) + "' should");
    }
  }

  [[nodiscard]] std::uint64_t number(std::string_view digits, std::uint64_t most) const {
    constexpr std::size_t kSafe = 19;  // digits whose value fits into 64 bits
    std::uint64_t value = 0;
    bool fits = !digits.empty() && digits.size() <= kSafe;
    for (const char c : digits) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      fits = fits && is_digit(c);
      value = (10 * value) + digit;
    }
    if (!fits || value > most) {
      throw wrong(line_, "'" + std::string(digits) + "' is no number from 0 to " + std::to_string(most));
    }
    return value;
  }
  std::uint64_t number(std::uint64_t most) { return number(word(), most); }

  /// A number and its unit, with or without a blank between them.
  std::uint64_t bytes() {
    std::string_view digits = word();
    if (digits.back() == 'b') {
      digits.remove_suffix(1);
    } else if (more() && *cursor_ == 'b') {
      expect(word(), "b");
    }
    return number(digits, kMostBytes);
  }

  void take(GoalRank& rank, std::string_view first) {
    if (more() && *cursor_ == ':') {
      word();
      if (!labels_.add(first, static_cast<std::uint32_t>(rank.ops.size()))) {
        throw wrong(line_, "the label '" + std::string(first) + "' is taken");
      }
      take_op(rank, word());
      return;
    }
    if (more() && !is_digit(*cursor_)) {
      const std::string_view second = word();
      if (second == "requires" || second == "irequires") {
        const std::uint32_t op = labelled(first);
        rank.edges.push_back({op, labelled(word()), second == "irequires"});
        return;
      }
      refuse(first, second);
    }
    take_op(rank, first);
  }

  [[noreturn]] void refuse(std::string_view first, std::string_view second) const {
    if (first == "calc" || first == "send" || first == "recv") {
      throw wrong(line_, "'" + std::string(second) + "' stands where a number should");
    }
    throw unknown(first);
  }

  [[nodiscard]] Error unknown(std::string_view kind) const {
    return wrong(line_, "'" + std::string(kind) + "' is no operation; known: calc, send, recv");
  }

  [[nodiscard]] std::uint32_t labelled(std::string_view label) const {
    const std::uint32_t found = labels_.find(label);
    if (found == kNone) {
      throw wrong(line_, "no operation of this rank before it has the label '" + std::string(label) + "'");
    }
    return found;
  }

  void take_op(GoalRank& rank, std::string_view kind) {
    GoalOp op;
    op.mark = line_;
    if (kind == "calc") {
      op.amount = number(kMostNanoseconds);
    } else if (kind == "send" || kind == "recv") {
      op.kind = kind == "send" ? GoalOp::Kind::kSend : GoalOp::Kind::kRecv;
      op.amount = bytes();
      expect(word(), op.kind == GoalOp::Kind::kSend ? "to" : "from");
      const std::string_view peer = word();
      const bool anyone = op.kind == GoalOp::Kind::kRecv && peer == "-1";
      op.peer = anyone ? kAnyPeer : static_cast<std::uint32_t>(number(peer, ranks_ - std::uint64_t{1}));
    } else {
      throw unknown(kind);
    }
    while (more() && *cursor_ != '}') {
      take_option(op);
    }
    rank.ops.push_back(op);
  }

  void take_option(GoalOp& op) {
    const std::string_view name = word();
    if (name == "tag") {
      const std::string_view tag = word();
      op.tag = op.kind == GoalOp::Kind::kRecv && tag == "-1" ? kAnyTag : number(tag, UINT32_MAX);
    } else if (name == "cpu") {
      op.cpu = static_cast<std::uint32_t>(number(UINT32_MAX));
    } else if (name == "nic") {
      (void)number(UINT32_MAX);  // ranks have one
    } else {
      throw wrong(line_, "'" + std::string(name) + "' is not known here; known: tag, cpu, nic");
    }
  }

  const char* at_;   ///< the next line
  const char* end_;  ///< of the text
  const char* cursor_ = nullptr;
  const char* line_end_ = nullptr;
  std::string name_;
  std::uint32_t ranks_ = 0;
  std::uint32_t line_ = 0;
  bool in_comment_ = false;
  Labels labels_;
};

}  // namespace

std::unique_ptr<GoalReader> read_goal_text(std::string_view text, std::string name) {
  return std::make_unique<GoalText>(text, std::move(name));
}

}  // namespace wulf::replay
