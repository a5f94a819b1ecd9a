/* SPDX-License-Identifier: MIT */
/*
 * Numbers with units: never outside their bounds, never a crash.
 */
#include "fuzz.h"

#include "util/parse.h"

#define MAX_VALUE (UINT64_C(1) << 60)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = fuzz_text(data, size);
	uint64_t value = 7;
	uint32_t a, b;
	double fraction = 0.5;
	bool yes;
	struct fail f;

	if (parse_u64("n", text, 5, MAX_VALUE, &value, &f) >= 0)
		fuzz_check(value >= 5 && value <= MAX_VALUE);
	if (parse_size("n", text, 5, MAX_VALUE, &value, &f) >= 0)
		fuzz_check(value >= 5 && value <= MAX_VALUE);
	if (parse_time("n", text, 5, MAX_VALUE, &value, &f) >= 0)
		fuzz_check(value >= 5 && value <= MAX_VALUE);
	if (parse_percent("n", text, 0.1, 0.9, &fraction, &f) >= 0)
		fuzz_check(fraction >= 0.1 && fraction <= 0.9);
	(void)parse_bool("n", text, &yes, &f);
	(void)parse_cpu_pair("n", text, &a, &b, &f);
	return 0;
}
