#include "node/cpu/fma_kernels.hpp"

#include <array>

// The loops are assembler from end to end: the compiler needs no flags for instructions that only some CPUs
// have, can't keep a sum in memory, and no file compiled for a newer CPU can lend its inline functions to the
// rest of a static program. The instructions' texts can't be a template's parameters, so a macro puts them
// in. NOLINTBEGIN(cppcoreguidelines-macro-usage,hicpp-no-assembler,bugprone-macro-parentheses)

namespace wulf::node {
namespace {

#ifdef __x86_64__

#define WULF_EACH_SUM(text) ".irp i,0,1,2,3,4,5,6,7,8,9,10,11\n\t" text "\n\t.endr\n\t"
#define WULF_LOOP(move, vector, even, odd, end) \
  asm volatile(move " (%[in]), %%" vector "12\n\t"                                              \
               move " 64(%[in]), %%" vector "13\n\t"                                            \
               move " 128(%[in]), %%" vector "14\n\t"                                           \
               WULF_EACH_SUM(move " 192(%[in]), %%" vector "\\i")                                \
               "1:\n\t"                                                                         \
               ".rept 4\n\t" WULF_EACH_SUM(even) WULF_EACH_SUM(odd) ".endr\n\t"                  \
               "sub $1, %[rounds]\n\t"                                                          \
               "jnz 1b\n\t"                                                                     \
               WULF_EACH_SUM(move " %%" vector "\\i, 64*\\i(%[out])") end                        \
               : [rounds] "+r"(rounds)                                                          \
               : [in] "r"(in), [out] "r"(out)                                                   \
               : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                 "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14")
#define WULF_FUSED(instruction, vector)                                                        \
  WULF_LOOP("vmovups", vector, instruction " %%" vector "13, %%" vector "12, %%" vector "\\i", \
            instruction " %%" vector "14, %%" vector "12, %%" vector "\\i", "vzeroupper\n\t")
#define WULF_PLAIN(multiply, add) \
  WULF_LOOP("movups", "xmm", multiply " %%xmm12, %%xmm\\i", add " %%xmm13, %%xmm\\i", "")

void fused_avx512_double(const std::byte* in, std::byte* out, std::uint64_t rounds) noexcept {
  WULF_FUSED("vfmadd231pd", "zmm");
}
void fused_avx512_float(const std::byte* in, std::byte* out, std::uint64_t rounds) noexcept {
  WULF_FUSED("vfmadd231ps", "zmm");
}
void fused_avx2_double(const std::byte* in, std::byte* out, std::uint64_t rounds) noexcept {
  WULF_FUSED("vfmadd231pd", "ymm");
}
void fused_avx2_float(const std::byte* in, std::byte* out, std::uint64_t rounds) noexcept {
  WULF_FUSED("vfmadd231ps", "ymm");
}
void plain_sse2_double(const std::byte* in, std::byte* out, std::uint64_t rounds) noexcept {
  WULF_PLAIN("mulpd", "addpd");
}
void plain_sse2_float(const std::byte* in, std::byte* out, std::uint64_t rounds) noexcept {
  WULF_PLAIN("mulps", "addps");
}

// These ask the operating system, too, whether it saves the wide registers.
bool has_avx512() noexcept { return __builtin_cpu_supports("avx512f"); }
bool has_avx2() noexcept { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_sse2() noexcept { return true; }  // part of x86-64

constexpr std::size_t kSums = 12;
constexpr std::array kFmaKernels{
    FmaKernel{"avx512", "double", 64, kSums, true, fused_avx512_double, has_avx512},
    FmaKernel{"avx512", "float", 64, kSums, true, fused_avx512_float, has_avx512},
    FmaKernel{"avx2", "double", 32, kSums, true, fused_avx2_double, has_avx2},
    FmaKernel{"avx2", "float", 32, kSums, true, fused_avx2_float, has_avx2},
    FmaKernel{"sse2", "double", 16, kSums, false, plain_sse2_double, has_sse2},
    FmaKernel{"sse2", "float", 16, kSums, false, plain_sse2_float, has_sse2},
};

#elif defined(__aarch64__)

#define WULF_EACH_SUM(text) \
  ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n\t" text "\n\t.endr\n\t"
#define WULF_FUSED(lanes) \
  asm volatile(                                                                                  \
      "ldr q24, [%[in]]\n\t"                                                                     \
      "ldr q25, [%[in], #64]\n\t"                                                                \
      "ldr q26, [%[in], #128]\n\t"                                                               \
      WULF_EACH_SUM("ldr q\\i, [%[in], #192]")                                                    \
      "1:\n\t"                                                                                   \
      ".rept 2\n\t"                                                                              \
      WULF_EACH_SUM("fmla v\\i\\()." lanes ", v24." lanes ", v25." lanes)                          \
      WULF_EACH_SUM("fmla v\\i\\()." lanes ", v24." lanes ", v26." lanes) ".endr\n\t"              \
      "subs %[rounds], %[rounds], #1\n\t"                                                        \
      "b.ne 1b\n\t"                                                                              \
      WULF_EACH_SUM("str q\\i, [%[out], #(64*\\i)]")                                              \
      : [rounds] "+r"(rounds)                                                                    \
      : [in] "r"(in), [out] "r"(out)                                                             \
      : "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", \
        "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", \
        "v25", "v26")

void fused_neon_double(const std::byte* in, std::byte* out, std::uint64_t rounds) noexcept {
  WULF_FUSED("2d");
}
void fused_neon_float(const std::byte* in, std::byte* out, std::uint64_t rounds) noexcept {
  WULF_FUSED("4s");
}
bool has_neon() noexcept { return true; }  // part of aarch64

constexpr std::array kFmaKernels{
    FmaKernel{"neon", "double", 16, kMostSums, true, fused_neon_double, has_neon},
    FmaKernel{"neon", "float", 16, kMostSums, true, fused_neon_float, has_neon},
};

#else
#error "no multiply-adds for this architecture"
#endif

// NOLINTEND(cppcoreguidelines-macro-usage,hicpp-no-assembler,bugprone-macro-parentheses)

}  // namespace

std::span<const FmaKernel> fma_kernels() noexcept { return kFmaKernels; }

std::size_t lanes(const FmaKernel& kernel) noexcept {
  return kernel.width / (kernel.type == "float" ? sizeof(float) : sizeof(double));
}

double flops(const FmaKernel& kernel) noexcept {
  return static_cast<double>(kFmaSteps * lanes(kernel) * (kernel.fused ? 2 : 1));
}

}  // namespace wulf::node
