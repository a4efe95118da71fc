#include "mpi/messages/messages.hpp"

#include <limits>
#include <span>

#include "mpi/plain/messages/pattern.hpp"
#include "mpi/ranks/memory.hpp"

namespace wulf::mpi {
namespace {

std::uint64_t seed_of(int rank) { return static_cast<std::uint64_t>(rank) + 1; }

}  // namespace

Ring::Ring(const Layout& layout, int sender) : Ring(layout) {
  for (std::size_t slot = 0; slot < layout_.slots(); ++slot) {
    fill_pattern({memory_.data() + layout_.offset(slot), layout_.bytes()}, seed_of(sender));
  }
}

void Ring::check(const World& world, int rank) const {
  const std::span message(memory_.data() + layout_.offset(slot_), layout_.bytes());
  const auto wrong = difference(message, seed_of(rank));
  if (wrong) {
    throw Error("wrong-result", "what arrived from " + world.name_of(rank) +
                                    " is not what was sent: " + describe(*wrong, layout_.bytes()));
  }
}

Posts::Posts(const Manner& manner, Direction direction, const Way& way, Ring& ring, int width)
    : manner_(manner),
      calls_(send_calls(manner.send)),
      sends_(direction == Direction::kSend),
      way_(way),
      ring_(ring),
      requests_(static_cast<std::size_t>(width), MPI_REQUEST_NULL) {
  if (manner.mode == Manner::Mode::kPersistent) {
    make_persistent();
  }
}

Posts::~Posts() {
  for (MPI_Request& request : requests_) {
    if (request != MPI_REQUEST_NULL) {
      MPI_Request_free(&request);
    }
  }
}

void Posts::make_persistent() {
  for (MPI_Request& request : requests_) {
    if (sends_) {
      calls_.init(ring_.next(), ring_.bytes(), MPI_BYTE, way_.peer, kMessage, way_.comm, &request);
    } else {
      MPI_Recv_init(ring_.next(), ring_.bytes(), MPI_BYTE, way_.peer, kMessage, way_.comm, &request);
    }
  }
}

void Posts::start() {
  switch (manner_.mode) {
    case Manner::Mode::kPersistent:
      MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
      break;
    case Manner::Mode::kNonblocking:
      start_nonblocking();
      break;
    case Manner::Mode::kBlocking:
      if (sends_) {
        run_blocking();
      }
      break;
  }
}

void Posts::start_nonblocking() {
  for (MPI_Request& request : requests_) {
    if (sends_) {
      calls_.nonblocking(ring_.next(), ring_.bytes(), MPI_BYTE, way_.peer, kMessage, way_.comm, &request);
    } else {
      MPI_Irecv(ring_.next(), ring_.bytes(), MPI_BYTE, way_.peer, kMessage, way_.comm, &request);
    }
  }
}

void Posts::run_blocking() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (sends_) {
      calls_.blocking(ring_.next(), ring_.bytes(), MPI_BYTE, way_.peer, kMessage, way_.comm);
    } else {
      MPI_Recv(ring_.next(), ring_.bytes(), MPI_BYTE, way_.peer, kMessage, way_.comm, MPI_STATUS_IGNORE);
    }
  }
}

void Posts::wait() {
  const auto count = static_cast<int>(requests_.size());
  if (manner_.mode == Manner::Mode::kBlocking) {
    if (!sends_) {
      run_blocking();
    }
  } else if (manner_.test) {
    for (int done = 0; done == 0;) {
      MPI_Testall(count, requests_.data(), &done, MPI_STATUSES_IGNORE);
    }
  } else if (count == 1) {
    MPI_Wait(requests_.data(), MPI_STATUS_IGNORE);
  } else {
    MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE);
  }
}

void Posts::test() {
  int done = 0;
  MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
}

std::size_t SendBuffer::size(const Manner& manner, std::size_t bytes, std::size_t width) {
  return manner.send == "buffered" ? 2 * (width + 1) * (bytes + MPI_BSEND_OVERHEAD) : 0;
}

SendBuffer::SendBuffer(const Manner& manner, std::size_t bytes, std::size_t width) {
  const std::size_t needed = size(manner, bytes, width);
  if (needed > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error("limit", "buffered sends of " + std::to_string(width) + " messages need a buffer of " +
                             std::to_string(needed) +
                             " B, and MPI_Buffer_attach takes 2 GiB at most: ask for "
                             "fewer bytes or a smaller window");
  }
  memory_.resize(needed);
  if (needed > 0) {
    MPI_Buffer_attach(memory_.data(), static_cast<int>(needed));
  }
}

SendBuffer::~SendBuffer() {
  if (!memory_.empty()) {
    void* address = nullptr;
    int size = 0;
    MPI_Buffer_detach(static_cast<void*>(&address), &size);
  }
}

Layout layout_of(const Manner& manner, std::size_t bytes, int width) {
  return manner.cold ? Layout(bytes, static_cast<std::size_t>(width), beyond_caches()) : Layout(bytes, 1, 0);
}

std::uint64_t memory_of(const Manner& manner, std::size_t bytes, int width) {
  return (2 * layout_of(manner, bytes, width).total()) +
         SendBuffer::size(manner, bytes, static_cast<std::size_t>(width));
}

End::End(const World& world, const Manner& how, std::size_t bytes, int own, int other, int width)
    : manner(how),
      peer(other),
      buffer(how, bytes, static_cast<std::size_t>(width)),
      out(layout_of(how, bytes, width), own),
      in(layout_of(how, bytes, width)),
      sends(how, Posts::Direction::kSend, {world.comm(), other}, out, width),
      receives(how, Posts::Direction::kReceive, {world.comm(), how.any ? MPI_ANY_SOURCE : other}, in, width) {
}

}  // namespace wulf::mpi
