/* wulf_rates.h: rates of this machine, for programs in C99 and C++11. One header, no library.

     struct wulf_rate l2;
     int status = wulf_rates_get("mem.l2.size", &l2);
     if (status == WULF_RATES_OK) block_for((size_t)l2.value);
     else fprintf(stderr, "rates: %s\n", wulf_rates_error(status));

   Reads the file that `wulf rates publish` writes: the one that WULF_RATES names, else /run/wulf/rates.json, else
   $XDG_CACHE_HOME/wulf/rates.json or ~/.cache/wulf/rates.json; the first that exists decides. Each call reads the file:
   keep what you get. Takes at most 2 MiB of memory, for the length of the call; writes nothing; safe in threads as long
   as none changes the environment or the locale. A setuid program should name its file: wulf_rates_get_from.

   SPDX-License-Identifier: Apache-2.0 */

#ifndef WULF_RATES_H
#define WULF_RATES_H

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Where the system's files lie; tests put a recorded machine here. */
#ifndef WULF_RATES_ROOT
#define WULF_RATES_ROOT ""
#endif

#define WULF_RATES_SCHEMA 1.0
#define WULF_RATES_MAX_BYTES 1048576 /* a longer file is none of ours */
#define WULF_RATES_MAX_DEPTH 64      /* of nested JSON */

/* What a call returns. */
enum {
  WULF_RATES_OK = 0,
  WULF_RATES_MISSING,  /* no file, or no permission to read it */
  WULF_RATES_TORN,     /* cut short, or no rates file */
  WULF_RATES_VERSION,  /* of a schema that this header does not know */
  WULF_RATES_MACHINE,  /* measured on another machine, or with another kernel */
  WULF_RATES_NO_RATE,  /* the file has no rate of this name */
  WULF_RATES_NO_VALUE  /* the rate has no value; its reason says why */
};

/* One rate, in SI base units. A number that is not there is NAN. */
struct wulf_rate {
  double value;
  double low, high;    /* the interval of the estimate */
  double confidence;   /* its coverage: 0.95 */
  double at;           /* when it was measured: Unix time [s] */
  double age;          /* since then [s], never below 0 */
  char unit[16];       /* s, B, B/s, Hz, flop/s, W; 1 for a ratio */
  char provenance[16]; /* measured, reported (by the operating system), given, predicted */
  char verdict[16];    /* ok, noisy, unresolved, failed */
  char reason[160];    /* why there is no value, or the verdict is not ok; cut to fit */
};

/* A status in words. */
static inline const char *wulf_rates_error(int status) {
  switch (status) {
    case WULF_RATES_OK: return "well";
    case WULF_RATES_MISSING: return "no rates file can be read; `wulf rates publish` writes one";
    case WULF_RATES_TORN: return "the rates file is torn, or no rates file; `wulf rates publish` writes it anew";
    case WULF_RATES_VERSION: return "the rates file has a schema that this program does not know";
    case WULF_RATES_MACHINE: return "the rates were measured on another machine, or with another kernel";
    case WULF_RATES_NO_RATE: return "no rate of this name; `wulf rates list` shows what there is";
    case WULF_RATES_NO_VALUE: return "the rate has no value on this machine; its reason says why";
    default: return "unknown status";
  }
}

/* ---- A strict scanner of JSON (RFC 8259): every function returns 1, or 0 where the text is not JSON. ---- */

struct wulf_rates_text {
  const char *at;
  const char *end;
};

static inline void wulf_rates_space(struct wulf_rates_text *in) {
  while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r')) ++in->at;
}

/* Takes `expected`, after white space. */
static inline int wulf_rates_take(struct wulf_rates_text *in, char expected) {
  wulf_rates_space(in);
  if (in->at == in->end || *in->at != expected) return 0;
  ++in->at;
  return 1;
}

static inline int wulf_rates_peek(struct wulf_rates_text *in) {
  wulf_rates_space(in);
  return in->at == in->end ? 0 : (unsigned char)*in->at;
}

static inline int wulf_rates_word(struct wulf_rates_text *in, const char *word) {
  size_t length = strlen(word);
  wulf_rates_space(in);
  if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0) return 0;
  in->at += length;
  return 1;
}

/* A string that is being decoded; what does not fit is left out, and `cut` set. */
struct wulf_rates_out {
  char *bytes; /* NULL: nothing is kept */
  size_t size, used;
  int cut;
};

static inline void wulf_rates_put(struct wulf_rates_out *out, const char *bytes, size_t count) {
  if (!out->bytes || out->cut) return;
  if (out->used + count >= out->size) {
    out->cut = 1;
    return;
  }
  memcpy(out->bytes + out->used, bytes, count);
  out->used += count;
}

/* A code point as UTF-8; half of a surrogate pair stands for nothing and becomes U+FFFD. */
static inline void wulf_rates_put_code(struct wulf_rates_out *out, unsigned long code) {
  char bytes[4];
  if (code >= 0xD800 && code <= 0xDFFF) code = 0xFFFD;
  if (code < 0x80) {
    bytes[0] = (char)code;
    wulf_rates_put(out, bytes, 1);
  } else if (code < 0x800) {
    bytes[0] = (char)(0xC0 | (code >> 6));
    bytes[1] = (char)(0x80 | (code & 0x3F));
    wulf_rates_put(out, bytes, 2);
  } else if (code < 0x10000) {
    bytes[0] = (char)(0xE0 | (code >> 12));
    bytes[1] = (char)(0x80 | ((code >> 6) & 0x3F));
    bytes[2] = (char)(0x80 | (code & 0x3F));
    wulf_rates_put(out, bytes, 3);
  } else {
    bytes[0] = (char)(0xF0 | (code >> 18));
    bytes[1] = (char)(0x80 | ((code >> 12) & 0x3F));
    bytes[2] = (char)(0x80 | ((code >> 6) & 0x3F));
    bytes[3] = (char)(0x80 | (code & 0x3F));
    wulf_rates_put(out, bytes, 4);
  }
}

/* Four hex digits. */
static inline int wulf_rates_hex(struct wulf_rates_text *in, unsigned long *code) {
  int i;
  *code = 0;
  for (i = 0; i < 4; ++i) {
    const char *digits = "0123456789abcdef0123456789ABCDEF";
    const char *digit = in->at < in->end && *in->at ? strchr(digits, *in->at) : NULL;
    if (!digit) return 0;
    *code = *code * 16 + (unsigned long)((digit - digits) % 16);
    ++in->at;
  }
  return 1;
}

/* What follows a backslash. */
static inline int wulf_rates_escape(struct wulf_rates_text *in, struct wulf_rates_out *out) {
  static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
  const char *name;
  unsigned long code, low;
  if (in->at == in->end || !*in->at) return 0;
  name = strchr(names, *in->at);
  if (name) {
    ++in->at;
    wulf_rates_put(out, &codes[name - names], 1);
    return 1;
  }
  if (*in->at++ != 'u' || !wulf_rates_hex(in, &code)) return 0;
  if (code >= 0xD800 && code < 0xDC00 && in->end - in->at >= 6 && in->at[0] == '\\' && in->at[1] == 'u') {
    struct wulf_rates_text ahead = *in;
    ahead.at += 2;
    if (wulf_rates_hex(&ahead, &low) && low >= 0xDC00 && low < 0xE000) {
      *in = ahead;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
  }
  wulf_rates_put_code(out, code);
  return 1;
}

/* Bytes of the UTF-8 sequence that begins here, 0 where it is none (RFC 3629: no surrogates, nothing overlong). */
static inline size_t wulf_rates_utf8(const struct wulf_rates_text *in) {
  const unsigned char *at = (const unsigned char *)in->at;
  size_t left = (size_t)(in->end - in->at), length, i;
  if (at[0] < 0x80) return 1;
  if (at[0] < 0xC2 || at[0] > 0xF4) return 0;
  length = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
  if (left < length) return 0;
  for (i = 1; i < length; ++i) {
    if ((at[i] & 0xC0) != 0x80) return 0;
  }
  if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F)) return 0;
  if ((at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F)) return 0;
  return length;
}

/* A string, decoded into `bytes` of `size` (NULL, 0: skipped). `cut` (or NULL) is set where it did not fit, or holds
   a NUL, and so equals no name. */
static inline int wulf_rates_string(struct wulf_rates_text *in, char *bytes, size_t size, int *cut) {
  struct wulf_rates_out out;
  out.bytes = bytes;
  out.size = size;
  out.used = 0;
  out.cut = 0;
  if (!wulf_rates_take(in, '"')) return 0;
  while (in->at < in->end && *in->at != '"') {
    size_t length = wulf_rates_utf8(in);
    if (length == 0 || (unsigned char)*in->at < 0x20) return 0;
    if (*in->at == '\\') {
      ++in->at;
      if (!wulf_rates_escape(in, &out)) return 0;
    } else {
      wulf_rates_put(&out, in->at, length);
      in->at += length;
    }
  }
  if (bytes) bytes[out.used] = '\0';
  if (cut) *cut = out.cut || (bytes && strlen(bytes) != out.used);
  return wulf_rates_take(in, '"');
}

static inline size_t wulf_rates_digits(struct wulf_rates_text *in) {
  const char *began = in->at;
  while (in->at < in->end && *in->at >= '0' && *in->at <= '9') ++in->at;
  return (size_t)(in->at - began);
}

/* strtod(3) of `count` characters, whatever the locale's decimal point is. */
static inline double wulf_rates_strtod(const char *text, size_t count) {
  char usual[64], *copy = usual;
  const char *point = (const char *)memchr(text, '.', count);
  const char *local = localeconv()->decimal_point;
  size_t before = point ? (size_t)(point - text) : count, width = point ? strlen(local) : 0;
  size_t after = point ? count - before - 1 : 0;
  double value;
  if (before + width + after >= sizeof usual) copy = (char *)malloc(before + width + after + 1);
  if (copy == NULL) return NAN;
  memcpy(copy, text, before);
  memcpy(copy + before, local, width);
  if (after) memcpy(copy + before + width, point + 1, after);
  copy[before + width + after] = '\0';
  value = strtod(copy, NULL);
  if (copy != usual) free(copy);
  return value;
}

/* A number that is finite; `whole` (or NULL) says whether it is written as an integer. */
static inline int wulf_rates_number(struct wulf_rates_text *in, double *value, int *whole) {
  const char *began;
  wulf_rates_space(in);
  began = in->at;
  if (whole) *whole = 1;
  if (in->at < in->end && *in->at == '-') ++in->at;
  if (in->at < in->end && *in->at == '0') {
    ++in->at;
  } else if (wulf_rates_digits(in) == 0) {
    return 0;
  }
  if (in->at < in->end && *in->at == '.') {
    ++in->at;
    if (whole) *whole = 0;
    if (wulf_rates_digits(in) == 0) return 0;
  }
  if (in->at < in->end && (*in->at == 'e' || *in->at == 'E')) {
    ++in->at;
    if (whole) *whole = 0;
    if (in->at < in->end && (*in->at == '+' || *in->at == '-')) ++in->at;
    if (wulf_rates_digits(in) == 0) return 0;
  }
  *value = wulf_rates_strtod(began, (size_t)(in->at - began));
  return 1;
}

/* Any value, looked at for its form alone. */
static inline int wulf_rates_skip(struct wulf_rates_text *in, int depth) {
  int open = wulf_rates_peek(in), close = open == '{' ? '}' : ']';
  double number;
  if (open == '"') return wulf_rates_string(in, NULL, 0, NULL);
  if (open == 't') return wulf_rates_word(in, "true");
  if (open == 'f') return wulf_rates_word(in, "false");
  if (open == 'n') return wulf_rates_word(in, "null");
  if (open != '{' && open != '[') return wulf_rates_number(in, &number, NULL);
  if (depth <= 0) return 0;
  ++in->at;
  if (wulf_rates_take(in, (char)close)) return 1;
  do {
    if (open == '{' && !(wulf_rates_string(in, NULL, 0, NULL) && wulf_rates_take(in, ':'))) return 0;
    if (!wulf_rates_skip(in, depth - 1)) return 0;
  } while (wulf_rates_take(in, ','));
  return wulf_rates_take(in, (char)close);
}

/* Calls `member` for every member of an object, with its name (empty where it is longer than any of ours); the
   function takes the value. */
typedef int (*wulf_rates_member)(struct wulf_rates_text *in, const char *name, void *context);

static inline int wulf_rates_object(struct wulf_rates_text *in, wulf_rates_member member, void *context) {
  char name[128];
  int cut;
  if (!wulf_rates_take(in, '{')) return 0;
  if (wulf_rates_take(in, '}')) return 1;
  do {
    if (!wulf_rates_string(in, name, sizeof name, &cut) || !wulf_rates_take(in, ':')) return 0;
    if (cut) name[0] = '\0';
    if (!member(in, name, context)) return 0;
  } while (wulf_rates_take(in, ','));
  return wulf_rates_take(in, '}');
}

/* ---- This machine, as the file's "machine" names it. What can't be read here is not compared. ---- */

/* The beginning of a file, as a string; empty where it can't be read. */
static inline void wulf_rates_head(const char *path, char *text, size_t size) {
  size_t used = 0;
  ssize_t got = 1;
  int file = open(path, O_RDONLY);
  while (file >= 0 && got > 0 && used + 1 < size) {
    got = read(file, text + used, size - 1 - used);
    if (got > 0) used += (size_t)got;
  }
  if (file >= 0) close(file);
  text[used] = '\0';
}

/* Copies what stands between `from` and the end of its line, without the blanks around it. */
static inline void wulf_rates_line(const char *from, char *value, size_t size) {
  size_t length;
  from += strspn(from, " \t");
  length = strcspn(from, "\n");
  while (length > 0 && strchr(" \t\r", from[length - 1])) --length;
  if (length >= size) length = 0; /* longer than any of ours: not known */
  memcpy(value, from, length);
  value[length] = '\0';
}

/* The first "name : value" of a file such as /proc/cpuinfo; empty where there is none. */
static inline void wulf_rates_field(const char *path, const char *name, char *value, size_t size) {
  char text[8192];
  const char *line = text;
  size_t length = strlen(name);
  value[0] = '\0';
  wulf_rates_head(path, text, sizeof text);
  for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
    const char *colon = line + length;
    if (strncmp(line, name, length) != 0) continue;
    colon += strspn(colon, " \t");
    if (*colon == ':') {
      wulf_rates_line(colon + 1, value, size);
      return;
    }
  }
}

/* Bytes of memory, rounded up to a sixteenth of the power of two below, as the fact memory.size is. */
static inline void wulf_rates_memory(char *value, size_t size) {
  unsigned long long memory, step = 1;
  wulf_rates_field(WULF_RATES_ROOT "/proc/meminfo", "MemTotal", value, size);
  memory = strtoull(value, NULL, 10) * 1024;
  value[0] = '\0';
  if (memory == 0) return;
  while (step <= memory / 2) step *= 2;
  step = step / 16 ? step / 16 : 1;
  snprintf(value, size, "%llu", (memory + step - 1) / step * step);
}

/* The value of a fact here; empty where it is not known. */
static inline void wulf_rates_fact(const char *name, char *value, size_t size) {
  char text[512];
  value[0] = '\0';
  text[0] = '\0';
  if (strcmp(name, "kernel.release") == 0) {
    wulf_rates_head(WULF_RATES_ROOT "/proc/sys/kernel/osrelease", text, sizeof text);
  } else if (strcmp(name, "kernel.version") == 0) {
    wulf_rates_head(WULF_RATES_ROOT "/proc/sys/kernel/version", text, sizeof text);
  } else if (strcmp(name, "cpu.online") == 0) {
    wulf_rates_head(WULF_RATES_ROOT "/sys/devices/system/cpu/online", text, sizeof text);
  } else if (strcmp(name, "cpu.model") == 0) {
    wulf_rates_field(WULF_RATES_ROOT "/proc/cpuinfo", "model name", value, size);
    return;
  } else if (strcmp(name, "cpu.microcode") == 0) {
    wulf_rates_field(WULF_RATES_ROOT "/proc/cpuinfo", "microcode", value, size);
    return;
  } else if (strcmp(name, "memory.size") == 0) {
    wulf_rates_memory(value, size);
    return;
  }
  wulf_rates_line(text, value, size);
}

/* ---- The file ---- */

struct wulf_rates_search {
  const char *name;
  struct wulf_rate *rate;
  double schema;
  int has_schema, has_rates, has_machine; /* and in the form that they must have */
  int other_machine;
  int found; /* 0: no such rate; 1: it is there; -1: it is there and is wrong */
  int fields;
};

static inline int wulf_rates_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

/* Unix time of "2026-01-31T12:00:00.000Z"; NAN for anything else. */
static inline double wulf_rates_time(const char *text) {
  static const int days_before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  int year, month, day, hour, minute, second, used = 0, last;
  double days, fraction = 0;
  size_t digits = 0;
  if (strspn(text, "0123456789-T:") < 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T') return NAN;
  if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &used) != 6) return NAN;
  if (used != 19) return NAN;
  if (text[19] == '.') {
    digits = strspn(text + 20, "0123456789");
    if (digits == 0) return NAN;
    fraction = wulf_rates_strtod(text + 19, digits + 1);
    ++digits;
  }
  if (strcmp(text + 19 + digits, "Z") != 0 || year < 1 || month < 1 || month > 12) return NAN;
  last = days_before[month] - days_before[month - 1] + (month == 2 && wulf_rates_leap(year));
  if (day < 1 || day > last || hour > 23 || minute > 59 || second > 59) return NAN;
  days = 365.0 * (year - 1970) + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 - 477;
  days += days_before[month - 1] + (month > 2 && wulf_rates_leap(year)) + day - 1;
  return days * 86400 + hour * 3600 + minute * 60 + second + fraction;
}

/* A number or null. */
static inline int wulf_rates_figure(struct wulf_rates_text *in, double *value, int *wrong) {
  int first = wulf_rates_peek(in);
  *value = NAN;
  if (first == 'n') return wulf_rates_word(in, "null");
  if (first != '-' && (first < '0' || first > '9')) {
    *wrong = 1;
    return wulf_rates_skip(in, WULF_RATES_MAX_DEPTH - 3);
  }
  if (!wulf_rates_number(in, value, NULL)) return 0;
  if (!(fabs(*value) <= 1.7976931348623157e308)) *wrong = 1;
  return 1;
}

/* A string that is kept, or something else, which is wrong. */
static inline int wulf_rates_words(struct wulf_rates_text *in, char *bytes, size_t size, int *wrong) {
  if (wulf_rates_peek(in) == '"') return wulf_rates_string(in, bytes, size, NULL);
  bytes[0] = '\0';
  *wrong = 1;
  return wulf_rates_skip(in, WULF_RATES_MAX_DEPTH - 3);
}

static inline int wulf_rates_rate_member(struct wulf_rates_text *in, const char *name, void *context) {
  struct wulf_rates_search *search = (struct wulf_rates_search *)context;
  struct wulf_rate *rate = search->rate;
  char at[48];
  int wrong = 0, form;
  if (strcmp(name, "value") == 0) {
    form = wulf_rates_figure(in, &rate->value, &wrong);
  } else if (strcmp(name, "low") == 0) {
    form = wulf_rates_figure(in, &rate->low, &wrong);
  } else if (strcmp(name, "high") == 0) {
    form = wulf_rates_figure(in, &rate->high, &wrong);
  } else if (strcmp(name, "confidence") == 0) {
    form = wulf_rates_figure(in, &rate->confidence, &wrong);
  } else if (strcmp(name, "unit") == 0) {
    form = wulf_rates_words(in, rate->unit, sizeof rate->unit, &wrong);
  } else if (strcmp(name, "provenance") == 0) {
    form = wulf_rates_words(in, rate->provenance, sizeof rate->provenance, &wrong);
  } else if (strcmp(name, "verdict") == 0) {
    form = wulf_rates_words(in, rate->verdict, sizeof rate->verdict, &wrong);
  } else if (strcmp(name, "reason") == 0 && wulf_rates_peek(in) == '"') {
    form = wulf_rates_string(in, rate->reason, sizeof rate->reason, NULL);
  } else if (strcmp(name, "at") == 0) {
    form = wulf_rates_words(in, at, sizeof at, &wrong);
    rate->at = form ? wulf_rates_time(at) : NAN;
  } else {
    form = wulf_rates_skip(in, WULF_RATES_MAX_DEPTH - 3);
  }
  if (wrong) search->found = -1;
  return form;
}

static inline int wulf_rates_rates_member(struct wulf_rates_text *in, const char *name, void *context) {
  struct wulf_rates_search *search = (struct wulf_rates_search *)context;
  struct wulf_rate *rate = search->rate;
  if (!name[0] || strcmp(name, search->name) != 0) return wulf_rates_skip(in, WULF_RATES_MAX_DEPTH - 2);
  memset(rate, 0, sizeof *rate);
  rate->value = rate->low = rate->high = rate->confidence = rate->at = rate->age = NAN;
  if (wulf_rates_peek(in) != '{') {
    search->found = -1;
    return wulf_rates_skip(in, WULF_RATES_MAX_DEPTH - 2);
  }
  search->found = 1;
  if (!wulf_rates_object(in, wulf_rates_rate_member, context)) return 0;
  if (!rate->unit[0] || !rate->provenance[0] || !rate->verdict[0] || isnan(rate->at)) search->found = -1;
  if (isnan(rate->value) && !rate->reason[0]) search->found = -1;
  return 1;
}

static inline int wulf_rates_machine_member(struct wulf_rates_text *in, const char *name, void *context) {
  struct wulf_rates_search *search = (struct wulf_rates_search *)context;
  char published[512], here[512];
  int cut;
  if (wulf_rates_peek(in) != '"') {
    search->has_machine = 0;
    return wulf_rates_skip(in, WULF_RATES_MAX_DEPTH - 2);
  }
  if (!wulf_rates_string(in, published, sizeof published, &cut)) return 0;
  wulf_rates_fact(name, here, sizeof here);
  if (here[0] && !cut && strcmp(here, published) != 0) search->other_machine = 1;
  return 1;
}

static inline int wulf_rates_file_member(struct wulf_rates_text *in, const char *name, void *context) {
  struct wulf_rates_search *search = (struct wulf_rates_search *)context;
  int first = wulf_rates_peek(in);
  if (strcmp(name, "schema") == 0) {
    search->has_schema = 0;
    if (first != '-' && (first < '0' || first > '9')) return wulf_rates_skip(in, WULF_RATES_MAX_DEPTH - 1);
    return wulf_rates_number(in, &search->schema, &search->has_schema);
  }
  if (strcmp(name, "rates") == 0) {
    search->found = 0;
    search->has_rates = first == '{';
    if (search->has_rates) return wulf_rates_object(in, wulf_rates_rates_member, context);
  }
  if (strcmp(name, "machine") == 0) {
    search->other_machine = 0;
    search->has_machine = first == '{';
    if (search->has_machine) return wulf_rates_object(in, wulf_rates_machine_member, context);
  }
  return wulf_rates_skip(in, WULF_RATES_MAX_DEPTH - 1);
}

/* Looks a rate up in the bytes of a file. */
static inline int wulf_rates_parse(const char *bytes, size_t count, const char *name, struct wulf_rate *out) {
  struct wulf_rate rate;
  struct wulf_rates_search search;
  struct wulf_rates_text in;
  memset(&search, 0, sizeof search);
  search.name = name;
  search.rate = &rate;
  in.at = bytes;
  in.end = bytes + count;
  if (!wulf_rates_object(&in, wulf_rates_file_member, &search)) return WULF_RATES_TORN;
  wulf_rates_space(&in);
  if (in.at != in.end || !search.has_schema) return WULF_RATES_TORN;
  if (search.schema < WULF_RATES_SCHEMA || search.schema > WULF_RATES_SCHEMA) return WULF_RATES_VERSION;
  if (!search.has_rates || !search.has_machine || search.found < 0) return WULF_RATES_TORN;
  if (search.other_machine) return WULF_RATES_MACHINE;
  if (!search.found) return WULF_RATES_NO_RATE;
  rate.age = difftime(time(NULL), 0) - rate.at;
  if (rate.age < 0) rate.age = 0;
  *out = rate;
  return isnan(rate.value) ? WULF_RATES_NO_VALUE : WULF_RATES_OK;
}

/* The bytes of a regular file of at most WULF_RATES_MAX_BYTES, to be freed; NULL with a status otherwise. */
static inline char *wulf_rates_read(const char *path, size_t *count, int *status) {
  struct stat about;
  char *bytes = NULL;
  ssize_t got = 1;
  int file = open(path, O_RDONLY | O_NONBLOCK); /* a pipe must not make us wait */
  *count = 0;
  *status = WULF_RATES_MISSING;
  if (file < 0) return NULL;
  if (fstat(file, &about) == 0) {
    *status = WULF_RATES_TORN;
    if (S_ISREG(about.st_mode) && about.st_size <= WULF_RATES_MAX_BYTES) {
      bytes = (char *)malloc((size_t)about.st_size + 1);
    }
  }
  while (bytes && got > 0 && *count <= (size_t)about.st_size) {
    got = read(file, bytes + *count, (size_t)about.st_size + 1 - *count);
    if (got > 0) *count += (size_t)got;
  }
  close(file);
  if (bytes && (got < 0 || *count != (size_t)about.st_size)) {
    free(bytes);
    bytes = NULL;
  }
  return bytes;
}

/* Looks a rate up in the file that `path` names. `out` is set with WULF_RATES_OK, and with WULF_RATES_NO_VALUE for its
   reason; else it is left as it was. */
static inline int wulf_rates_get_from(const char *path, const char *name, struct wulf_rate *out) {
  size_t count;
  int status;
  char *bytes = wulf_rates_read(path, &count, &status);
  if (!bytes) return status;
  status = wulf_rates_parse(bytes, count, name, out);
  free(bytes);
  return status;
}

/* The file that is read; 0 where the environment names none that fits. */
static inline int wulf_rates_path(char *path, size_t size) {
  const char *given = getenv("WULF_RATES"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length;
  if (given && given[0]) {
    length = snprintf(path, size, "%s", given);
  } else if (access(WULF_RATES_ROOT "/run/wulf/rates.json", F_OK) == 0) {
    length = snprintf(path, size, "%s", WULF_RATES_ROOT "/run/wulf/rates.json");
  } else if (cache && cache[0] == '/') {
    length = snprintf(path, size, "%s/wulf/rates.json", cache);
  } else if (home && home[0]) {
    length = snprintf(path, size, "%s/.cache/wulf/rates.json", home);
  } else {
    return 0;
  }
  return length > 0 && (size_t)length < size;
}

/* Looks a rate of this machine up, by its name: "mem.l2.size". Returns WULF_RATES_OK or what is wrong; `out` as for
   wulf_rates_get_from. */
static inline int wulf_rates_get(const char *name, struct wulf_rate *out) {
  char path[4096];
  return wulf_rates_path(path, sizeof path) ? wulf_rates_get_from(path, name, out) : WULF_RATES_MISSING;
}

/* The value of a rate, or `fallback` where there is none, for whatever reason. */
static inline double wulf_rates_value_or(const char *name, double fallback) {
  struct wulf_rate rate;
  return wulf_rates_get(name, &rate) == WULF_RATES_OK ? rate.value : fallback;
}

#endif /* WULF_RATES_H */
