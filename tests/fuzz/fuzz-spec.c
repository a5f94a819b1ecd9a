/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks with options: what is taken is written out and read back the same, with one hash.
 */
#include "fuzz.h"

#include "bench/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = fuzz_text(data, size), *whole = NULL;
	struct bench_spec spec, back;
	struct fail f;

	if (bench_spec_parse(text, &spec, &f) < 0)
		return 0;
	whole = bench_spec_format(&spec);
	fuzz_check(whole && bench_spec_parse(whole, &back, &f) >= 0 &&
		   bench_spec_hash(&spec) == bench_spec_hash(&back));
	return 0;
}
