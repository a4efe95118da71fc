#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/json/error.hpp"
#include "net/channel/local.hpp"
#include "net/channel/ring.hpp"

namespace wulf::net {
namespace {

/// A ring each way, in memory that both processes have mapped.
struct Rings {
  Ring there;
  Ring back;
};

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// The mapping of a file in memory that holds Rings.
class Mapping {
 public:
  explicit Mapping(const Socket& file)
      : rings_(
            mmap(nullptr, sizeof(Rings), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.fd(), 0)) {
    if (rings_ == MAP_FAILED) {
      throw system_error("limit", "cannot map shared memory", errno);
    }
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&& other) noexcept : rings_(std::exchange(other.rings_, nullptr)) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() {
    if (rings_ != nullptr) {
      munmap(rings_, sizeof(Rings));
    }
  }
  [[nodiscard]] Rings& rings() const { return *static_cast<Rings*>(rings_); }

 private:
  void* rings_;
};

class ShmChannel final : public Channel {
 public:
  ShmChannel(Mapping mapping, bool client, Waiting waiting)
      : mapping_(std::move(mapping)),
        out_(client ? mapping_.rings().there : mapping_.rings().back),
        in_(client ? mapping_.rings().back : mapping_.rings().there),
        writer_(out_, waiting),
        reader_(in_, waiting) {}

  Io send(std::span<const std::byte> message) noexcept override { return writer_.write(message); }

  Io receive(std::span<std::byte> message, std::size_t& got) noexcept override {
    got = message.size();
    while (!message.empty()) {
      std::size_t some = 0;
      if (reader_.read_some(message, some) != Io::kDone) {
        return Io::kClosed;
      }
      message = message.subspan(some);
    }
    return Io::kDone;
  }

  Io receive_some(std::span<std::byte> buffer, std::size_t& got) noexcept override {
    return reader_.read_some(buffer, got);
  }

  [[nodiscard]] std::optional<std::uint64_t> arrived() const override { return in_.written(); }
  [[nodiscard]] std::uint64_t activity() const override { return in_.written() + out_.read(); }

  void interrupt() noexcept override {
    out_.close();
    in_.close();
  }

  [[nodiscard]] Json info() const override { return {{"sndbuf", Ring::kCapacity}}; }

 private:
  Mapping mapping_;
  Ring& out_;
  Ring& in_;
  RingWriter writer_;
  RingReader reader_;
};

/// Two processes of one node over shared memory; a local socket only hands it over. The memory is a file
/// without a name, sealed so that neither side can cut it under the other's feet.
class ShmTransport final : public Transport {
 public:
  ShmTransport()
      : Transport({.name = "shm",
                   .help = "a ring of 256 KiB in shared memory each way, within one node",
                   .max_bytes = 16 << 20,
                   .default_write = 64 << 10,
                   .datagrams = false,
                   .has_server = true,
                   .local = true,
                   .options = {"waiting"}}) {}

  [[nodiscard]] std::shared_ptr<Channel> connect(const Address& server, const Opening& opening,
                                                 const ChannelOptions& options,
                                                 double /*timeout*/) const override {
    if (options.waiting == Waiting::kEpoll) {
      throw bad_parameter("waiting", "shm has no descriptor for epoll: block or busy");
    }
    const Socket file(memfd_create("wulf-net", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file.fd() < 0 || ftruncate(file.fd(), sizeof(Rings)) != 0 ||
        fcntl(file.fd(), F_ADD_SEALS, kSeals) != 0) {
      throw system_error("limit", "cannot make shared memory", errno);
    }
    Mapping mapping(file);
    (void)knock(server, name(), opening, {file.fd()});
    return std::make_shared<ShmChannel>(std::move(mapping), /*client=*/true, options.waiting);
  }

  [[nodiscard]] std::unique_ptr<Intake> open_intake(const Address& address, Gate& gate) const override {
    const auto make = [](const Socket& /*socket*/, const std::vector<Socket>& files,
                         const ChannelOptions& options) -> std::shared_ptr<Channel> {
      if (files.size() != 1 || !is_sound(files.front())) {
        return nullptr;
      }
      return std::make_shared<ShmChannel>(Mapping(files.front()), /*client=*/false, options.waiting);
    };
    return std::make_unique<LocalIntake>(local_address(address, name()), gate, make);
  }

 private:
  static bool is_sound(const Socket& file) {
    struct stat status {};
    return fstat(file.fd(), &status) == 0 && status.st_size == sizeof(Rings) &&
           (fcntl(file.fd(), F_GET_SEALS) & F_SEAL_SHRINK) != 0;
  }
};

const Registered<Transport> registered_shm_transport{std::make_unique<ShmTransport>()};

}  // namespace
}  // namespace wulf::net
