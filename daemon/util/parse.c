/* SPDX-License-Identifier: MIT */
/*
 * Numbers with units, read strictly.
 */
#include "util/parse.h"

#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include <schedlab/units.h>

#include "util/cpuset.h"

struct unit {
	const char *name;
	double factor;
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", KIB },
	{ "KiB", KIB },
	{ "M", MIB },
	{ "MiB", MIB },
	{ "G", GIB },
	{ "GiB", GIB },
	{ "T", 1024.0 * GIB },
	{ "TiB", 1024.0 * GIB },
};

static const struct unit time_units[] = {
	{ "", NSEC_PER_SEC },           { "ns", 1 },
	{ "us", NSEC_PER_USEC },        { "ms", NSEC_PER_MSEC },
	{ "s", NSEC_PER_SEC },          { "sec", NSEC_PER_SEC },
	{ "min", 60.0 * NSEC_PER_SEC }, { "h", 3600.0 * NSEC_PER_SEC },
};

static const char *skip_blanks(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

/* An unsigned decimal number with an optional fraction at *@p; no sign, exponent, nan or hex. */
static int read_number(const char **p, double *ret)
{
	double value = 0, place = 1;

	if (!isdigit((unsigned char)**p))
		return -EINVAL;
	for (; isdigit((unsigned char)**p); (*p)++)
		value = value * 10 + (**p - '0');
	if (**p == '.') {
		(*p)++;
		if (!isdigit((unsigned char)**p))
			return -EINVAL;
		for (; isdigit((unsigned char)**p); (*p)++) {
			place /= 10;
			value += place * (**p - '0');
		}
	}
	*ret = value;
	return 0;
}

static const struct unit *read_unit(const char **p, const struct unit *units, size_t n)
{
	const char *end = *p;

	while (isalpha((unsigned char)*end))
		end++;
	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(units[i].name);

		if (length == (size_t)(end - *p) && strncasecmp(*p, units[i].name, length) == 0) {
			*p = end;
			return &units[i];
		}
	}
	return NULL;
}

/* The sum of all "<number><unit>" parts; -EINVAL where the text is anything else. */
static int read_sum(const char *text, const struct unit *units, size_t n, bool one_part,
		    double *ret)
{
	const char *p = skip_blanks(text);
	double sum = 0;
	int parts = 0;

	do {
		const struct unit *unit;
		double value;

		if (read_number(&p, &value) < 0)
			return -EINVAL;
		p = skip_blanks(p);
		unit = read_unit(&p, units, n);
		/* "1 30" is no time, and "1min 30" leaves a guess. */
		if (!unit || (parts > 0 && *unit->name == '\0'))
			return -EINVAL;
		sum += value * unit->factor;
		p = skip_blanks(p);
		parts++;
	} while (*p != '\0' && !one_part);
	if (*p != '\0')
		return -EINVAL;
	*ret = sum;
	return 0;
}

int parse_u64(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *ret,
	      struct fail *f)
{
	const char *p = skip_blanks(text);
	uint64_t value = 0;
	bool fits = true, any = false;

	for (; isdigit((unsigned char)*p); p++, any = true)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			fits = false;
	if (!any || *skip_blanks(p) != '\0')
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: '%.60s' is not a whole number; accepted is %" PRIu64
				" to %" PRIu64,
				what, text, min, max);
	if (!fits || value < min || value > max)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: %.60s is out of range; accepted is %" PRIu64 " to %" PRIu64,
				what, text, min, max);
	*ret = value;
	return 0;
}

int parse_size(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *ret,
	       struct fail *f)
{
	double value;

	if (read_sum(text, size_units, ELEMENTSOF(size_units), true, &value) < 0 ||
	    value != floor(value))
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: '%.60s' is not a size; one looks like 4096, 64K, 64M, 1G",
				what, text);
	if (value < (double)min || value > (double)max)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: %.60s is out of range; accepted is %" PRIu64 " to %" PRIu64
				" bytes",
				what, text, min, max);
	*ret = (uint64_t)value;
	return 0;
}

int parse_time(const char *what, const char *text, uint64_t min_ns, uint64_t max_ns,
	       uint64_t *ret_ns, struct fail *f)
{
	double value;

	if (read_sum(text, time_units, ELEMENTSOF(time_units), false, &value) < 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: '%.60s' is not a time; one looks like 200ms, 5s, 1min 30s",
				what, text);
	if (value < (double)min_ns || value > (double)max_ns)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: %.60s is out of range; accepted is %s to %s", what, text,
				FORMAT_TIME(min_ns), FORMAT_TIME(max_ns));
	*ret_ns = (uint64_t)llround(value);
	return 0;
}

int parse_percent(const char *what, const char *text, double min, double max, double *ret,
		  struct fail *f)
{
	const char *p = skip_blanks(text);
	double value;

	if (read_number(&p, &value) < 0 || *(p = skip_blanks(p)) != '%' ||
	    *skip_blanks(p + 1) != '\0')
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: '%.60s' is not a percentage; one looks like 2.5%%", what,
				text);
	value /= 100;
	if (value < min || value > max)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: %.60s is out of range; accepted is %g%% to %g%%", what, text,
				min * 100, max * 100);
	*ret = value;
	return 0;
}

int parse_bool(const char *what, const char *text, bool *ret, struct fail *f)
{
	static const char *const yes[] = { "yes", "on", "true", "1" };
	static const char *const no[] = { "no", "off", "false", "0" };

	for (size_t i = 0; i < ELEMENTSOF(yes); i++) {
		if (strcasecmp(text, yes[i]) == 0) {
			*ret = true;
			return 0;
		}
		if (strcasecmp(text, no[i]) == 0) {
			*ret = false;
			return 0;
		}
	}
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"%s: '%.60s' is neither yes nor no (on, off, true, false, 1, 0)", what,
			text);
}

int parse_cpu_pair(const char *what, const char *text, uint32_t *ret_a, uint32_t *ret_b,
		   struct fail *f)
{
	size_t length = strcspn(text, "-,");
	char first[16];
	uint64_t a = 0, b = 0;

	if (length < sizeof(first) && text[length] != '\0') {
		(void)snprintf(first, sizeof(first), "%.*s", (int)length, text);
		if (parse_u64(what, first, 0, CPUSET_CPU_MAX, &a, NULL) >= 0 &&
		    parse_u64(what, text + length + 1, 0, CPUSET_CPU_MAX, &b, NULL) >= 0) {
			*ret_a = (uint32_t)a;
			*ret_b = (uint32_t)b;
			return 0;
		}
	}
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"%s: '%.60s' is not a pair of CPUs; one looks like 0-1", what, text);
}

const char *format_time(char buffer[FORMAT_TIME_MAX], uint64_t ns)
{
	static const struct unit steps[] = {
		{ "h", 3600.0 * NSEC_PER_SEC }, { "min", 60.0 * NSEC_PER_SEC },
		{ "s", NSEC_PER_SEC },          { "ms", NSEC_PER_MSEC },
		{ "us", NSEC_PER_USEC },        { "ns", 1 },
	};
	size_t i = 0;

	while (i + 1 < ELEMENTSOF(steps) && (double)ns < steps[i].factor)
		i++;
	(void)snprintf(buffer, FORMAT_TIME_MAX, "%.3g %s", (double)ns / steps[i].factor,
		       steps[i].name);
	return buffer;
}
