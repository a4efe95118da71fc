#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/messages/manner.hpp"
#include "mpi/plain/messages/layout.hpp"
#include "mpi/ranks/world.hpp"

namespace wulf::mpi {

/// The probes' messages; orders have other tags.
inline constexpr int kMessage = 10;
inline constexpr int kDone = 11;
inline constexpr int kWord = 12;

/// The memory of one direction's messages.
class Ring {
 public:
  explicit Ring(const Layout& layout) : layout_(layout), memory_(layout.total()) {}

  /// Every message is that of the rank `sender`.
  Ring(const Layout& layout, int sender);

  /// The memory to use next.
  [[nodiscard]] std::byte* next() {
    slot_ = layout_.after(slot_);
    return memory_.data() + layout_.offset(slot_);
  }

  /// Throws wrong-result where what arrived last is not what the sender `rank` filled in. `world` names the
  /// ranks.
  void check(const World& world, int rank) const;

  [[nodiscard]] int bytes() const { return static_cast<int>(layout_.bytes()); }

 private:
  Layout layout_;
  std::vector<std::byte> memory_;
  std::size_t slot_ = 0;
};

/// Where messages go to or come from.
struct Way {
  MPI_Comm comm;
  int peer;  ///< the receives' may be MPI_ANY_SOURCE
};

/// Messages of one direction that are under way together: started, then waited for. In blocking mode, sends
/// are done when started and receives when waited for.
class Posts {
 public:
  enum class Direction { kSend, kReceive };

  /// `width` messages at a time. The ring has to outlive it.
  Posts(const Manner& manner, Direction direction, const Way& way, Ring& ring, int width);
  Posts(const Posts&) = delete;
  Posts& operator=(const Posts&) = delete;
  Posts(Posts&&) = delete;
  Posts& operator=(Posts&&) = delete;
  ~Posts();

  void start();
  void wait();
  /// Lets MPI get on with what was started; for requests alone.
  void test();

 private:
  void make_persistent();
  void start_nonblocking();
  void run_blocking();

  Manner manner_;
  SendCalls calls_;
  bool sends_;
  Way way_;
  Ring& ring_;
  std::vector<MPI_Request> requests_;
};

/// MPI's buffer for buffered sends, if the manner has them; a process has one.
class SendBuffer {
 public:
  /// Room for twice as many messages as are under way at once. Throws `limit` beyond MPI's own 2 GiB.
  SendBuffer(const Manner& manner, std::size_t bytes, std::size_t width);
  SendBuffer(const SendBuffer&) = delete;
  SendBuffer& operator=(const SendBuffer&) = delete;
  SendBuffer(SendBuffer&&) = delete;
  SendBuffer& operator=(SendBuffer&&) = delete;
  /// Waits until all of it was delivered.
  ~SendBuffer();

  /// Bytes that it will need.
  [[nodiscard]] static std::size_t size(const Manner& manner, std::size_t bytes, std::size_t width);

 private:
  std::vector<std::byte> memory_;
};

/// Where the messages of such a manner lie, if `width` of them are under way at once.
[[nodiscard]] Layout layout_of(const Manner& manner, std::size_t bytes, int width);

/// Bytes that one end of a conversation in both directions needs.
[[nodiscard]] std::uint64_t memory_of(const Manner& manner, std::size_t bytes, int width);

/// One end of a conversation: what it sends, what it receives, and the peer. The outgoing messages are
/// filled.
struct End {
  /// Ranks: this one's own and the peer's.
  End(const World& world, const Manner& how, std::size_t bytes, int own, int other, int width);

  /// Whether what arrived last is the peer's message.
  void check(const World& world) const { in.check(world, peer); }

  Manner manner;
  int peer;
  SendBuffer buffer;
  Ring out;
  Ring in;
  Posts sends;
  Posts receives;
};

}  // namespace wulf::mpi
