/* SPDX-License-Identifier: MIT */
/*
 * CPU lists and masks: what is taken is written out and read back the same.
 */
#include "fuzz.h"

#include "util/cpuset.h"

static void round_trip(const struct cpuset *s)
{
	_cleanup_(cpuset_freep) struct cpuset *back = NULL;
	_cleanup_free_ char *text = cpuset_format_list(s);

	fuzz_check(text && cpuset_parse_list(text, &back, NULL) == 0 && cpuset_equal(s, back));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(cpuset_freep) struct cpuset *list = NULL, *mask = NULL;
	_cleanup_free_ char *text = fuzz_text(data, size);
	struct fail f;

	if (cpuset_parse_list(text, &list, &f) >= 0)
		round_trip(list);
	if (cpuset_parse_mask(text, &mask, &f) >= 0)
		round_trip(mask);
	return 0;
}
