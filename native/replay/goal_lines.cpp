#include "replay/goal_lines.hpp"

#include <charconv>
#include <sstream>

namespace wulf::replay {

GoalLines::GoalLines(std::istream& text, std::string name) : text_(text), name_(std::move(name)) {
  if (!next_line() || words_[0] != "num_ranks") {
    throw wrong(line_, "a GOAL text begins with 'num_ranks N'");
  }
  ranks_ = static_cast<std::uint32_t>(number(1, UINT32_MAX - 1));
}

Error GoalLines::wrong(std::uint32_t line, const std::string& what) const {
  return {"goal", name_ + ", line " + std::to_string(line) + ": " + what};
}

/// Those that end with the line, and those from /* to */, which may be lines later.
void GoalLines::drop_comments(std::string& line) {
  for (std::size_t begin = 0; begin != std::string::npos;) {
    begin = in_comment_ ? 0 : line.find("/*");
    if (begin == std::string::npos) {
      break;
    }
    const std::size_t end = line.find("*/", begin);
    in_comment_ = end == std::string::npos;
    line.erase(begin, in_comment_ ? end : end + 2 - begin);
    begin = in_comment_ ? std::string::npos : begin;
  }
  line = line.substr(0, std::min(line.find("//"), line.find('#')));
}

/// The words of the next line that has any; braces are words, and a comment ends a line.
bool GoalLines::next_line() {
  std::string line;
  while (std::getline(text_, line)) {
    ++line_;
    drop_comments(line);
    std::string spaced;
    for (const char c : line) {
      spaced += c == '{' || c == '}' ? std::string{' ', c, ' '} : std::string{c};
    }
    std::istringstream words(spaced);
    words_.clear();
    for (std::string each; words >> each;) {
      words_.push_back(each);
    }
    if (!words_.empty()) {
      return true;
    }
  }
  return false;
}

const std::string& GoalLines::word(std::size_t at) const {
  if (at >= words_.size()) {
    throw wrong(line_, "the line ends where a word is missing");
  }
  return words_[at];
}

void GoalLines::expect(std::size_t at, const char* wanted) const {
  if (word(at) != wanted) {
    throw wrong(line_, "'" + word(at) + "' stands where '" + wanted + "' should");
  }
}

std::uint64_t GoalLines::number(std::size_t at, std::uint64_t most, char unit) const {
  std::string_view digits = word(at);
  if (unit != '\0' && !digits.empty() && digits.back() == unit) {
    digits.remove_suffix(1);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value > most) {
    throw wrong(line_, "'" + word(at) + "' is no number from 0 to " + std::to_string(most));
  }
  return value;
}

std::uint32_t GoalLines::labelled(const std::string& label) const {
  const auto found = labels_.find(label);
  if (found == labels_.end()) {
    throw wrong(line_, "no operation of this rank before it has the label '" + label + "'");
  }
  return found->second;
}

bool GoalLines::next(GoalRank& rank) {
  if (!next_line()) {
    return false;
  }
  expect(0, "rank");
  rank.rank = static_cast<std::uint32_t>(number(1, ranks_ - std::uint64_t{1}));
  rank.ops.clear();
  labels_.clear();
  if (words_.size() == 2 && !next_line()) {
    throw wrong(line_, "the text ends where '{' should stand");
  }
  expect(words_.size() - 1, "{");
  while (next_line()) {
    if (words_[0] == "}") {
      return true;
    }
    if (words_[0].back() == ':') {
      take_op(rank, words_[0].substr(0, words_[0].size() - 1), 1);
    } else if (words_.size() == 3 && (words_[1] == "requires" || words_[1] == "irequires")) {
      take_dependency(rank);
    } else {
      take_op(rank, "", 0);
    }
  }
  throw wrong(line_, "the text ends within rank " + std::to_string(rank.rank));
}

void GoalLines::take_op(GoalRank& rank, const std::string& label, std::size_t at) {
  constexpr std::uint64_t kMostNanoseconds = INT64_MAX / 1000;
  GoalOp op;
  op.line = line_;
  const std::string& kind = word(at);
  if (kind == "calc") {
    op.amount = number(at + 1, kMostNanoseconds);
    take_options(op, at + 2);
  } else if (kind == "send" || kind == "recv") {
    op.kind = kind == "send" ? GoalOp::Kind::kSend : GoalOp::Kind::kRecv;
    op.amount = number(at + 1, INT64_MAX, 'b');
    expect(at + 2, op.kind == GoalOp::Kind::kSend ? "to" : "from");
    const bool anyone = op.kind == GoalOp::Kind::kRecv && is_any(at + 3);
    op.peer = anyone ? kAnyPeer : static_cast<std::uint32_t>(number(at + 3, ranks_ - std::uint64_t{1}));
    take_options(op, at + 4);
  } else {
    throw wrong(line_, "'" + kind + "' is no operation; known: calc, send, recv");
  }
  const auto index = static_cast<std::uint32_t>(rank.ops.size());
  if (!label.empty() && !labels_.emplace(label, index).second) {
    throw wrong(line_, "the label '" + label + "' is taken");
  }
  rank.ops.push_back(std::move(op));
}

void GoalLines::take_options(GoalOp& op, std::size_t at) {
  for (; at < words_.size(); at += 2) {
    if (words_[at] == "tag") {
      const bool all = op.kind == GoalOp::Kind::kRecv && is_any(at + 1);
      op.tag = all ? kAnyTag : number(at + 1, UINT32_MAX);
    } else if (words_[at] == "cpu") {
      op.cpu = static_cast<std::uint32_t>(number(at + 1, UINT32_MAX));
    } else if (words_[at] == "nic") {
      (void)number(at + 1, UINT32_MAX);  // ranks have one
    } else {
      throw wrong(line_, "'" + words_[at] + "' is not known here; known: tag, cpu, nic");
    }
  }
}

void GoalLines::take_dependency(GoalRank& rank) {
  GoalOp& op = rank.ops[labelled(words_[0])];
  const std::uint32_t on = labelled(words_[2]);
  (words_[1] == "requires" ? op.after_end : op.after_begin).push_back(on);
}

}  // namespace wulf::replay
