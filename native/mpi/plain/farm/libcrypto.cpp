#include "mpi/plain/farm/libcrypto.hpp"

#include <dlfcn.h>

#include <array>

#include "core/kernels/sha1.hpp"

namespace wulf::mpi {

LibrarySha1::LibrarySha1() {
  constexpr std::array<const char*, 2> kNames{"libcrypto.so.3", "libcrypto.so.1.1"};
  for (const char* name : kNames) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);  // never closed: it stays with the process
    void* symbol = library != nullptr ? dlsym(library, "SHA1") : nullptr;
    if (symbol != nullptr) {
      function_ = reinterpret_cast<Function>(symbol);  // NOLINT: what dlsym(3) says to do
      name_ = name;
      return;
    }
  }
}

Digest LibrarySha1::digest(std::span<const std::byte> data) const noexcept {
  if (function_ == nullptr) {
    return own_sha1(data);
  }
  std::array<unsigned char, kDigestBytes> bytes{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): C knows no std::byte
  function_(reinterpret_cast<const unsigned char*>(data.data()), data.size(), bytes.data());
  Digest digest;
  for (std::size_t i = 0; i < kDigestBytes; ++i) {
    digest[i] = std::byte{bytes[i]};
  }
  return digest;
}

Digest own_sha1(std::span<const std::byte> data) noexcept {
  const Sha1Digest words = sha1(data);
  Digest digest;
  for (std::size_t i = 0; i < kDigestBytes; ++i) {
    digest[i] = static_cast<std::byte>(words[i / 4] >> (24 - (8 * (i % 4))));
  }
  return digest;
}

}  // namespace wulf::mpi
