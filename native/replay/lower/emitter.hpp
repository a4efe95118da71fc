#pragma once

#include <cstdint>
#include <vector>

#include "replay/program/builder.hpp"

namespace wulf::replay {

/// Adds one rank's operations to a program: gives slots, and joins computing that nothing stands between.
class Emitter {
 public:
  Emitter(ProgramBuilder& builder, std::uint32_t rank) : builder_(builder), rank_(rank) {}

  /// The record that what follows comes from.
  void set_mark(std::uint32_t mark) { mark_ = mark; }
  void compute(Picoseconds duration) { pending_ += duration; }
  /// Posts; the slot is free again after its wait.
  [[nodiscard]] std::uint32_t send(std::uint32_t peer, std::uint64_t bytes, std::uint64_t tag);
  [[nodiscard]] std::uint32_t receive(std::uint32_t peer, std::uint64_t bytes, std::uint64_t tag);
  void wait(std::uint32_t slot);
  /// The computing after the last message.
  void finish() { flush(); }
  /// Where in the program the rank is: its computing so far stands before.
  [[nodiscard]] std::uint32_t position() {
    flush();
    return static_cast<std::uint32_t>(builder_.ops());
  }

  [[nodiscard]] std::uint32_t rank() const { return rank_; }

 private:
  void flush();
  std::uint32_t take_slot();

  ProgramBuilder& builder_;
  std::uint32_t rank_;
  std::uint32_t mark_ = 0;
  Picoseconds pending_ = 0;
  std::vector<std::uint32_t> free_;
  std::uint32_t slots_ = 0;
};

}  // namespace wulf::replay
