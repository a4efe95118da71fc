#include "net/server/server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <thread>

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"

namespace wulf::net {

Server::Server(const Transport& transport, const Address& address, const Key& key, std::optional<int> cpu)
    : transport_(transport), address_(address), key_(key), cpu_(cpu), stop_(Socket::event()) {
  if (address.is_wildcard()) {
    throw Error("address",
                "a server binds to one address of this host, not to " + address.text() + ", which is all",
                "address");
  }
  if (!transport.spec().has_server) {
    return;  // its channels answer by themselves: there is nothing to listen for
  }
  listen();
  threads_.start([this] { accept_clients(); });
}

Server::~Server() {
  intake_.reset();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int fd : openings_) {
      shutdown(fd, SHUT_RDWR);
    }
    for (const auto& [number, run] : runs_) {
      run->cancel();
    }
  }
  eventfd_write(stop_.fd(), 1);
  threads_.join();
}

Json Server::counts() const {
  return {{"accepted", accepted_.load()},
          {"wrong_key", wrong_key_.load()},
          {"replayed", replayed_.load()},
          {"malformed", malformed_.load()},
          {"turned_away", turned_away_.load()}};
}

void Server::listen() {
  constexpr int kAttempts = 16;  // another process may hold the same port by the transport's own protocol
  constexpr int kBacklog = 256;
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    listener_ = Socket::create(address_.family(), SOCK_STREAM);
    address_.set_port(0);
    listener_.bind(address_);
    address_ = Address::of_socket(listener_.fd());
    if (::listen(listener_.fd(), kBacklog) != 0) {
      throw system_error("address", "cannot listen at " + address_.text(), errno);
    }
    try {
      intake_ = transport_.open_intake(address_, *this);
      return;
    } catch (const Error& error) {
      if (error.code() != "address" || attempt == kAttempts) {
        throw;
      }
    }
  }
}

void Server::accept_clients() {
  listener_.set_blocking(false);
  std::array<pollfd, 2> watched{{{listener_.fd(), POLLIN, 0}, {stop_.fd(), POLLIN, 0}}};
  while (watched[1].revents == 0) {
    poll(watched.data(), watched.size(), -1);
    if (watched[0].revents == 0) {
      continue;
    }
    const int fd = accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) {
      take_in(Socket(fd));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      // The connection stays in the backlog: without a pause this would spin until a descriptor is free.
      {
        const std::lock_guard lock(mutex_);
        close_longest_silent();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

void Server::take_in(Socket socket) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      return;
    }
    if (openings_.size() >= kMostOpenings) {
      close_longest_silent();
    }
    openings_.push_back(socket.fd());
  }
  const int fd = socket.release();
  try {
    threads_.start([this, fd] {
      try {
        welcome(Socket(fd));
      } catch (const std::exception& error) {
        // One client's misfortune, such as no memory for his run, ends his connection alone.
        std::cerr << "wulf-net: a client was dropped: " << error.what() << '\n';
      }
    });
  } catch (const std::system_error&) {
    const std::lock_guard lock(mutex_);
    std::erase(openings_, fd);
    ++turned_away_;
    const Socket closes(fd);
  }
}

void Server::close_longest_silent() {
  if (!openings_.empty()) {
    ++turned_away_;
    shutdown(openings_.front(), SHUT_RDWR);  // its thread sees the end, and closes it
    openings_.erase(openings_.begin());
  }
}

void Server::welcome(Socket socket) {
  const Nanoseconds deadline = now() + from_seconds(kHeaderTimeout);
  Header::Bytes bytes{};
  const bool whole = read_exactly(socket.fd(), bytes, deadline);
  const auto opened = Header::decode(std::span(bytes).first(whole ? bytes.size() : 0));
  std::string params(opened ? opened->params_length : 0, '\0');
  const bool complete = read_exactly(socket.fd(), std::as_writable_bytes(std::span(params)), deadline);
  {
    const std::lock_guard lock(mutex_);
    std::erase(openings_, socket.fd());
  }
  if (!opened || !complete) {
    ++malformed_;
  } else if (!Header::is_sealed(bytes, key_, std::as_bytes(std::span(params)))) {
    ++wrong_key_;
  } else if (opened->kind == Kind::kControl) {
    open_run(std::move(socket), *opened, parse_json(params).value_or(nullptr));
  } else {
    (void)join(*opened, [&](const ChannelOptions& options) { return transport_.adopt(socket, options); });
  }
}

std::optional<Header> Server::admit(std::span<const std::byte> bytes) {
  auto header = Header::decode(bytes);
  if (!header || header->kind != Kind::kData) {
    ++malformed_;
    return std::nullopt;
  }
  if (!Header::is_sealed(bytes, key_)) {
    ++wrong_key_;
    return std::nullopt;
  }
  return header;
}

bool Server::is_first_of(std::uint64_t run) {
  const std::lock_guard lock(mutex_);
  return seen_.size() < kMostRunsEver && seen_.insert(run).second;
}

std::shared_ptr<Channel> Server::join(const Header& header, const Make& make) {
  std::shared_ptr<ServerRun> run;
  {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(header.run);
    if (found == runs_.end()) {
      return nullptr;
    }
    run = found->second;
  }
  return run->join(header.channel, make);
}

void Server::open_run(Socket socket, const Header& header, const Json& params) {
  if (!is_first_of(header.run)) {
    ++replayed_;
    return;
  }
  ++accepted_;
  Control control(std::move(socket));
  std::shared_ptr<ServerRun> run;
  try {
    run = make_run(control, header, params);
  } catch (const Error& error) {
    try {
      control.send({{"error", to_json(error)}});
    } catch (const Error&) {
      return;  // gone meanwhile
    }
    return;
  }
  run->attend();
  const std::lock_guard lock(mutex_);
  runs_.erase(header.run);
}

std::shared_ptr<ServerRun> Server::make_run(Control& control, const Header& header, const Json& params) {
  const Pattern* pattern = Registry<Pattern>::find(header.pattern);
  if (pattern == nullptr) {
    throw bad_parameter("pattern",
                        "the server has no pattern '" + header.pattern + "': is it of another version?");
  }
  const Json settled = pattern->settle(params, transport_);
  const auto own_cpu = optional_value<int>(settled, "server_cpu");
  if (own_cpu) {
    check_cpu(*own_cpu, "server_cpu");
  }
  const std::lock_guard lock(mutex_);
  std::size_t lanes = pattern->lanes(settled);
  for (const auto& [number, run] : runs_) {
    lanes += run->lanes().size();
  }
  if (stopping_) {
    throw Error("peer-lost", "the server is being stopped");
  }
  if (runs_.size() >= kMostRuns || lanes > kMostLanes) {
    ++turned_away_;
    throw Error("limit",
                "the server has " + std::to_string(runs_.size()) + " runs in progress: try again later");
  }
  auto run = std::make_shared<ServerRun>(*pattern, transport_, settled, std::move(control),
                                         own_cpu ? own_cpu : cpu_);
  runs_.emplace(header.run, run);
  return run;
}

}  // namespace wulf::net
