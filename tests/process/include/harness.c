/* What the tests drive the header with.
   NAME…      every rate of the machine's file: status, value and time
   --frames   "rates file" after "rates file" on stdin, each behind its length of four bytes; looks "mem.l2.size" up */
#include "wulf_rates.h"

static void show(int status, const struct wulf_rate *rate) {
  if (status == WULF_RATES_OK) {
    printf("%d %.17g %.17g %.17g %.17g %.3f %s %s %s\n", status, rate->value, rate->low, rate->high, rate->confidence,
           rate->at, rate->unit, rate->provenance, rate->verdict);
  } else {
    printf("%d %s\n", status, status == WULF_RATES_NO_VALUE ? rate->reason : wulf_rates_error(status));
  }
}

static int frames(void) {
  unsigned char head[4];
  while (fread(head, 1, sizeof head, stdin) == sizeof head) {
    size_t count = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    char *bytes = (char *)malloc(count); /* exactly: whoever reads beyond is caught by AddressSanitizer */
    struct wulf_rate rate;
    if (!bytes || fread(bytes, 1, count, stdin) != count) return 1;
    show(wulf_rates_parse(bytes, count, "mem.l2.size", &rate), &rate);
    free(bytes);
  }
  return 0;
}

int main(int argc, char **argv) {
  int i;
  setlocale(LC_ALL, ""); /* a decimal comma must not matter */
  if (argc == 2 && strcmp(argv[1], "--frames") == 0) return frames();
  for (i = 1; i < argc; ++i) {
    struct wulf_rate rate;
    int status = wulf_rates_get(argv[i], &rate);
    show(status, &rate);
  }
  return 0;
}
