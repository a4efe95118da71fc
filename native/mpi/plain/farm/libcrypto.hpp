#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "mpi/plain/farm/work.hpp"

namespace wulf::mpi {

/// SHA-1 by OpenSSL's libcrypto, which uses the CPU's own instructions for it, loaded at run time: the
/// program is built where no OpenSSL is, too, and then computes it itself (core/kernels/sha1.hpp).
class LibrarySha1 {
 public:
  LibrarySha1();

  [[nodiscard]] Digest digest(std::span<const std::byte> data) const noexcept;
  /// "libcrypto.so.3" or "own".
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  using Function = unsigned char* (*)(const unsigned char* data, std::size_t bytes, unsigned char* digest);

  Function function_ = nullptr;
  std::string name_ = "own";
};

/// The same in portable code.
[[nodiscard]] Digest own_sha1(std::span<const std::byte> data) noexcept;

}  // namespace wulf::mpi
