#include "replay/program/own_messages.hpp"

#include <vector>

#include "replay/program/fixed_point.hpp"

namespace wulf::replay {
namespace {

/// Messages that stay, by their numbers from now on; kNone of those that are copied.
class Numbers {
 public:
  explicit Numbers(const Messages& messages) : number_(messages.count()) {
    for (std::uint32_t message = 0; message < messages.count(); ++message) {
      const bool copied =
          messages.from[message] == messages.to[message] && messages.recv_op[message] != kNone;
      number_[message] = copied ? kNone : stay_++;
    }
  }

  [[nodiscard]] std::uint32_t operator[](std::uint32_t message) const { return number_[message]; }
  [[nodiscard]] bool all_stay() const { return stay_ == number_.size(); }

  template <typename T>
  void keep(Array<T>& values) const {
    for (std::size_t message = 0; message < number_.size(); ++message) {
      if (number_[message] != kNone) {
        values[number_[message]] = values[message];
      }
    }
    values.resize(stay_);
  }

 private:
  Array<std::uint32_t> number_;
  std::uint32_t stay_ = 0;
};

/// Durations of copies, each size's put down once.
class Durations {
 public:
  Durations(Program& program, const CopyCosts& costs)
      : program_(program),
        costs_(costs),
        nothing_(add(0)),
        send_(add(costs.send)),
        copies_(program.sizes.size(), kNone) {}

  [[nodiscard]] std::uint32_t nothing() const { return nothing_; }
  [[nodiscard]] std::uint32_t send() const { return send_; }
  [[nodiscard]] std::uint32_t copy(std::uint32_t size) {
    if (copies_[size] == kNone) {
      copies_[size] = add(costs_.receive + mul(costs_.byte_fp, program_.sizes[size]));
    }
    return copies_[size];
  }

 private:
  std::uint32_t add(Picoseconds duration) {
    program_.durations.push_back(duration);
    return static_cast<std::uint32_t>(program_.durations.size() - 1);
  }

  Program& program_;
  const CopyCosts& costs_;
  std::uint32_t nothing_;
  std::uint32_t send_;
  std::vector<std::uint32_t> copies_;
};

}  // namespace

Copies copy_own_messages(Program& program, const CopyCosts& costs) {
  Messages& messages = program.messages;
  const Numbers numbers(messages);
  // of a graph, nothing but the message says that a receive comes after its send
  if (numbers.all_stay() || !program.graph.empty()) {
    return {};
  }
  Copies copies{.first = static_cast<std::uint32_t>(program.durations.size())};
  Durations durations(program, costs);
  for (std::size_t op = 0; op < program.ops(); ++op) {
    OpKind& kind = program.kind[op];
    if (kind == OpKind::kCalc || kind == OpKind::kRecvLive || kind == OpKind::kWaitLive) {
      continue;
    }
    const std::uint32_t message = program.arg[op];
    if (numbers[message] != kNone) {
      program.arg[op] = numbers[message];
      continue;
    }
    program.arg[op] = kind == OpKind::kSend       ? durations.send()
                      : kind == OpKind::kWaitRecv ? durations.copy(messages.size[message])
                                                  : durations.nothing();
    if (kind == OpKind::kSend) {
      ++copies.messages;
      copies.bytes += program.bytes_of(message);
    }
    kind = OpKind::kCalc;
  }
  for (auto* field : {&messages.from, &messages.to, &messages.size, &messages.send_op, &messages.recv_op}) {
    numbers.keep(*field);
  }
  numbers.keep(messages.tag);
  return copies;
}

}  // namespace wulf::replay
