#include "trace/calls/sites.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "trace/calls/handles.hpp"
#include "trace/file/buffer.hpp"
#include "trace/format/encode.hpp"
#include "trace/format/ops.hpp"

namespace wulf::trace {

bool record_sites = false;

namespace {

constexpr std::size_t name_most = 160;

HandleMap sites;
std::uint64_t next_site = 1;

/// "program+0x12ab": the file's own name, and the address in it.
std::size_t name_of(const void* site, char (&text)[name_most]) {
  Dl_info found{};
  const bool known = dladdr(site, &found) != 0 && found.dli_fname != nullptr;
  const char* path = known ? found.dli_fname : "?";
  const char* slash = std::strrchr(path, '/');
  const auto base = known ? reinterpret_cast<std::uintptr_t>(found.dli_fbase) : 0;
  const int length = std::snprintf(text, sizeof(text), "%.120s+0x%zx", slash == nullptr ? path : slash + 1,
                                   static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(site) - base));
  return length > 0 ? static_cast<std::size_t>(length) : 0;
}

}  // namespace

std::uint8_t* put_site(std::uint8_t* at, const void* site) {
  const auto key = reinterpret_cast<std::uint64_t>(site);
  const HandleMap::Slot* slot = sites.find(key);
  if (slot == nullptr) {
    slot = sites.insert(key, next_site);
    if (slot == nullptr) {
      return nullptr;
    }
    char text[name_most];
    const std::size_t length = name_of(site, text);
    *at++ = static_cast<std::uint8_t>(Op::site_name);
    at = put_varint(put_varint(at, next_site++), length);
    std::memcpy(at, text, length);
    at += length;
    buffer.commit(at, 1, 0);
  }
  *at++ = static_cast<std::uint8_t>(Op::site);
  at = put_varint(at, slot->value);
  buffer.commit(at, 1, 0);
  return at;
}

}  // namespace wulf::trace
