#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "mpi/plain/farm/work.hpp"

namespace wulf::mpi {

/// The work of one rank done by several threads: each batch is cut into contiguous shares, one a thread, of
/// which the calling thread does the last. No other thread calls MPI. They sleep between batches.
class TeamWork final : public Work {
 public:
  /// `make` makes the work of one thread, with its own memory.
  TeamWork(int threads, const std::function<std::unique_ptr<Work>()>& make);
  TeamWork(const TeamWork&) = delete;
  TeamWork& operator=(const TeamWork&) = delete;
  TeamWork(TeamWork&&) = delete;
  TeamWork& operator=(TeamWork&&) = delete;
  ~TeamWork() override;

  void done(std::span<const std::uint32_t> inputs, std::byte* digests) override;
  Digest expected(std::uint32_t input) override { return members_.front()->expected(input); }
  /// Of one thread.
  [[nodiscard]] double seconds() const override { return members_.front()->seconds(); }
  [[nodiscard]] std::string by() const override { return members_.front()->by(); }

 private:
  void serve(std::size_t member);
  void part(std::size_t member);

  std::vector<std::unique_ptr<Work>> members_;
  std::span<const std::uint32_t> inputs_;
  std::byte* digests_ = nullptr;
  std::atomic<std::uint32_t> batch_{0};  ///< counts batches: what the others wait for
  std::atomic<std::uint32_t> busy_{0};   ///< those who are not ready yet
  std::atomic<bool> ending_{false};
  std::vector<std::jthread> threads_;
};

}  // namespace wulf::mpi
