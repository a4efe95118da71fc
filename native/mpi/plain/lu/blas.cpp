#include "mpi/plain/lu/blas.hpp"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/json/error.hpp"

namespace wulf::mpi {
namespace {

/// Fortran's integers, of libraries with 32 bits and with 64: it is passed by address, and its lower half
/// stands first on all architectures that MPIs are installed on.
using Integer = std::int64_t;
using TextLength = std::size_t;  ///< of a text, as gfortran passes it behind all else

using Gemm = void (*)(const char*, const char*, const Integer*, const Integer*, const Integer*, const double*,
                      const double*, const Integer*, const double*, const Integer*, const double*, double*,
                      const Integer*, TextLength, TextLength);
using Gemv = void (*)(const char*, const Integer*, const Integer*, const double*, const double*,
                      const Integer*, const double*, const Integer*, const double*, double*, const Integer*,
                      TextLength);
using Trsm = void (*)(const char*, const char*, const char*, const char*, const Integer*, const Integer*,
                      const double*, const double*, const Integer*, double*, const Integer*, TextLength,
                      TextLength, TextLength, TextLength);
using Largest = int (*)(const Integer*, const double*, const Integer*);

/// Whose function it is: Fortran's takes its arguments by address, C's by value.
enum class Language { kFortran, kC };

/// A function of a library in any of the forms in which it may be named: plain, with 64-bit integers, and as
/// the wheels of NumPy and SciPy carry it. Null where there is none. A library with 64-bit integers may have
/// a function of C's in either language's form: openblas_set_num_threads64_ and, for Fortran, ..._64_.
void* function(void* library, const std::string& name, Language language = Language::kFortran) {
  constexpr std::array<const char*, 3> kFortranForms{"_", "_64_", "64_"};
  constexpr std::array<const char*, 2> kForms{"", "64_"};
  const std::span<const char* const> forms = language == Language::kFortran
                                                 ? std::span<const char* const>(kFortranForms)
                                                 : std::span<const char* const>(kForms);
  for (const char* before : {"", "scipy_"}) {
    for (const char* after : forms) {
      std::string form = before;
      form += name;
      form += after;
      if (void* found = dlsym(library, form.c_str())) {
        return found;
      }
    }
  }
  return nullptr;
}

template <typename Function>
Function as(void* symbol) {
  return reinterpret_cast<Function>(symbol);  // NOLINT: what dlsym(3) says to do
}

/// The file of a library, or what was wanted where the linker does not know.
std::string file_of(void* library, const std::string& wanted) {
  Dl_info info{};
  const bool known = dladdr(as<const void*>(function(library, "dgemm")), &info) != 0;
  return known && info.dli_fname != nullptr ? info.dli_fname : wanted;
}

std::string version_of(void* library) {
  using Text = const char* (*)();
  for (const char* each : {"openblas_get_config", "bli_info_get_version_str"}) {
    const auto ask = as<Text>(function(library, each, Language::kC));
    const char* said = ask != nullptr ? ask() : nullptr;
    if (said != nullptr) {
      return said;
    }
  }
  return {};
}

/// Asks a library to use `count` threads. Returns how many it says it uses; nothing where it can't be asked.
std::optional<int> use_threads(void* library, int count) {
  using Set = void (*)(int);
  using Get = int (*)();
  constexpr std::array<std::pair<const char*, const char*>, 3> kNames{
      {{"openblas_set_num_threads", "openblas_get_num_threads"},
       {"MKL_Set_Num_Threads", "MKL_Get_Max_Threads"},
       {"bli_thread_set_num_threads", "bli_thread_get_num_threads"}}};
  for (const auto& [set, get] : kNames) {
    const auto ask = as<Set>(function(library, set, Language::kC));
    const auto said = as<Get>(function(library, get, Language::kC));
    if (ask != nullptr && said != nullptr) {
      ask(count);
      return said();
    }
  }
  return std::nullopt;
}

class LibraryBlas : public Blas {
 public:
  /// Throws bad-parameter where a function is missing.
  LibraryBlas(void* library, const std::string& wanted, int threads)
      : Blas({.name = file_of(library, wanted),
              .version = version_of(library),
              .threads = use_threads(library, threads)}),
        gemm_(as<Gemm>(needed(library, "dgemm", wanted))),
        gemv_(as<Gemv>(needed(library, "dgemv", wanted))),
        trsm_(as<Trsm>(needed(library, "dtrsm", wanted))),
        largest_(as<Largest>(needed(library, "idamax", wanted))) {}

  void multiply(int m, int n, int k, const double* a, int lda, const double* b, int ldb, double* c,
                int ldc) const override {
    const Integer rows = m;
    const Integer columns = n;
    const Integer inner = k;
    const Integer a_step = lda;
    const Integer b_step = ldb;
    const Integer c_step = ldc;
    gemm_("N", "N", &rows, &columns, &inner, &kMinusOne, a, &a_step, b, &b_step, &kOne, c, &c_step, 1, 1);
  }
  void multiply_vector(int m, int n, const double* a, int lda, const double* x, double* y) const override {
    const Integer rows = m;
    const Integer columns = n;
    const Integer step = lda;
    gemv_("N", &rows, &columns, &kMinusOne, a, &step, x, &kNext, &kOne, y, &kNext, 1);
  }
  [[nodiscard]] int largest(int n, const double* x) const override {
    const Integer count = n;
    return largest_(&count, x, &kNext) - 1;
  }

 private:
  void solve_few(int m, int n, const double* l, int ldl, double* b, int ldb) const override {
    const Integer rows = m;
    const Integer columns = n;
    const Integer l_step = ldl;
    const Integer b_step = ldb;
    trsm_("L", "L", "N", "U", &rows, &columns, &kOne, l, &l_step, b, &b_step, 1, 1, 1, 1);
  }

  static constexpr double kMinusOne = -1.0;
  static constexpr double kOne = 1.0;
  static constexpr Integer kNext = 1;

  static void* needed(void* library, const std::string& name, const std::string& wanted) {
    void* found = function(library, name);
    if (found == nullptr) {
      throw bad_parameter("blas", "'" + wanted + "' has no " + name + "_ of Fortran's interface: it is no " +
                                      "BLAS, or one that needs another library");
    }
    return found;
  }

  Gemm gemm_;
  Gemv gemv_;
  Trsm trsm_;
  Largest largest_;
};

/// Throws bad-parameter where it can't be loaded. It is never closed: it stays with the process.
std::unique_ptr<Blas> library_blas(const std::string& wanted, int threads) {
  void* library = dlopen(wanted.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* said = dlerror();
    throw bad_parameter("blas", "'" + wanted + "' can't be loaded (" + (said != nullptr ? said : "?") +
                                    "): give the path of a BLAS that is there on every node, or 'own'");
  }
  return std::make_unique<LibraryBlas>(library, wanted, threads);
}

}  // namespace

void Blas::solve_lower(int m, int n, const double* l, int ldl, double* b, int ldb) const {
  constexpr int kFew = 8;
  if (m <= kFew) {
    solve_few(m, n, l, ldl, b, ldb);
    return;
  }
  const int upper = m / 2;
  solve_lower(upper, n, l, ldl, b, ldb);
  multiply(m - upper, n, upper, l + upper, ldl, b, ldb, b + upper, ldb);
  const double* corner = l + upper + (static_cast<std::ptrdiff_t>(upper) * ldl);
  solve_lower(m - upper, n, corner, ldl, b + upper, ldb);
}

std::unique_ptr<Blas> load_blas(const std::optional<std::string>& wanted, int threads) {
  if (wanted) {
    return *wanted == "own" ? own_blas() : library_blas(*wanted, threads);
  }
  for (const char* each :
       {"libblas.so.3", "libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4", "libblas.so"}) {
    try {
      return library_blas(each, threads);
    } catch (const Error&) {
      continue;  // it is not there: the next one
    }
  }
  return own_blas();
}

}  // namespace wulf::mpi
