/* SPDX-License-Identifier: MIT */
/*
 * Tables.
 */
#include "render/table.h"

#include <errno.h>
#include <langinfo.h>
#include <libsmartcols.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct libscols_table *table_new(const struct table_column *columns, size_t n)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		return NULL;
	/* Off a terminal nothing is cut or padded to a width. */
	for (size_t i = 0; i < n; i++) {
		if (!scols_table_new_column(table, columns[i].name, 0,
					    columns[i].right ? SCOLS_FL_RIGHT : 0)) {
			scols_unref_table(table);
			return NULL;
		}
	}
	return table;
}

int table_add(struct libscols_table *table, const char *const *cells, size_t n)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	int r = line ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r == 0; i++)
		r = scols_line_set_data(line, i, cells[i]);
	return r;
}

void table_print(struct libscols_table *table)
{
	if (!table)
		return;
	(void)scols_print_table(table);
	scols_unref_table(table);
}

const char *format_number(char buffer[NUMBER_MAX], double value)
{
	int digits = value == 0 ? 0 : 3 - (int)floor(log10(fabs(value)));

	(void)snprintf(buffer, NUMBER_MAX, "%.*f",
		       digits < 0    ? 0
		       : digits > 12 ? 12
				     : digits,
		       value);
	return buffer;
}

bool output_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

const char *plus_minus(void)
{
	return output_is_utf8() ? "±" : "+-";
}

const char *format_spread(char buffer[NUMBER_MAX], double median, double spread)
{
	if (median == 0)
		return "-";
	(void)snprintf(buffer, NUMBER_MAX, "%s%.*f %%", plus_minus(),
		       spread / median < 0.0995 ? 1 : 0, spread / median * 100);
	return buffer;
}

const char *format_bytes(char buffer[NUMBER_MAX], double bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	for (; bytes >= 1024 && i + 1 < sizeof(units) / sizeof(*units); i++)
		bytes /= 1024;
	(void)snprintf(buffer, NUMBER_MAX, "%.4g %s", bytes, units[i]);
	return buffer;
}
