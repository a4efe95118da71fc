#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "core/host/threads.hpp"
#include "net/channel/ring.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

/// A ring as shared memory makes it: all zeros.
std::unique_ptr<Ring> empty_ring() { return std::make_unique<Ring>(); }

std::vector<std::byte> bytes(std::size_t count) {
  std::vector<std::byte> list(count);
  for (std::size_t i = 0; i < count; ++i) {
    list[i] = static_cast<std::byte>(i * 31 % 251);
  }
  return list;
}

TEST_CASE("what goes into a ring comes out, many times round it, however both sides wait") {
  for (const Waiting waiting : {Waiting::kBlock, Waiting::kBusy}) {
    const auto ring = empty_ring();
    const auto sent = bytes((5 * Ring::kCapacity) + 12345);
    Io wrote = Io::kClosed;  // Catch2's own checks are for one thread
    std::thread writer([&] { wrote = RingWriter(*ring, waiting).write(sent); });
    RingReader reader(*ring, waiting);
    std::vector<std::byte> came;
    std::vector<std::byte> piece(10007);
    while (came.size() < sent.size()) {
      std::size_t got = 0;
      REQUIRE(reader.read_some(piece, got) == Io::kDone);
      came.insert(came.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
    }
    writer.join();
    CHECK(wrote == Io::kDone);
    CHECK(came == sent);
    CHECK(ring->written() == sent.size());
    CHECK(ring->read() == sent.size());
  }
}

TEST_CASE("closing a ring wakes a reader and a writer") {
  for (const Waiting waiting : {Waiting::kBlock, Waiting::kBusy}) {
    const auto empty = empty_ring();
    const auto full = empty_ring();
    const auto more = bytes(2 * Ring::kCapacity);
    Io read = Io::kDone;
    Io wrote = Io::kDone;
    std::thread reader([&] {
      std::byte word{};
      std::size_t got = 0;
      read = RingReader(*empty, waiting).read_some({&word, 1}, got);
    });
    std::thread writer([&] { wrote = RingWriter(*full, waiting).write(more); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    empty->close();
    full->close();
    reader.join();
    writer.join();
    CHECK(read == Io::kClosed);
    CHECK(wrote == Io::kClosed);
  }
}

TEST_CASE("what was written before a ring was closed is still read") {
  const auto ring = empty_ring();
  REQUIRE(RingWriter(*ring, Waiting::kBlock).write(bytes(3)) == Io::kDone);
  ring->close();
  std::vector<std::byte> buffer(8);
  std::size_t got = 0;
  RingReader reader(*ring, Waiting::kBlock);
  CHECK(reader.read_some(buffer, got) == Io::kDone);
  CHECK(got == 3);
  CHECK(reader.read_some(buffer, got) == Io::kClosed);
}

TEST_CASE("counts that no honest peer writes end a ring") {
  const auto ring = empty_ring();
  const std::uint64_t absurd = Ring::kCapacity + 1;
  auto* counts = reinterpret_cast<std::byte*>(ring.get());
  std::memcpy(counts, &absurd, sizeof(absurd));  // the count of bytes written comes first
  std::vector<std::byte> buffer(8);
  std::size_t got = 0;
  CHECK(RingReader(*ring, Waiting::kBlock).read_some(buffer, got) == Io::kClosed);
  RingWriter writer(*ring, Waiting::kBlock);
  REQUIRE(writer.write(bytes(Ring::kCapacity)) == Io::kDone);
  std::memcpy(counts + 64, &absurd, sizeof(absurd));  // more was read than ever written
  CHECK(writer.write(buffer) == Io::kClosed);
}

TEST_CASE("an interrupt ends a call that blocks, and forbids the next") {
  Interruptible guard;
  std::atomic<bool> ended{false};
  std::thread caller([&] {
    while (guard.enter()) {
      pause();
      guard.leave();
    }
    guard.leave();
    ended.store(true);
  });
  guard.interrupt();
  caller.join();
  CHECK(ended.load());
  CHECK_FALSE(guard.enter());
  guard.leave();
}

}  // namespace
