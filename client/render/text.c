/* SPDX-License-Identifier: MIT */
/*
 * Texts from JSON.
 */
#include "render/text.h"

#include <schedlab/units.h>
#include <stdbool.h>
#include <time.h>

#include "util/macro.h"
#include "util/utf8.h"

/* What is quoted in them came from workers, files, or a kernel. */
static void clean(json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_string(value)) {
		_cleanup_free_ char *text = strdup(json_string_value(value));

		if (text) {
			utf8_clean(text);
			json_string_set(value, text);
		}
	}
	json_array_foreach (value, i, member)
		clean(member);
	json_object_foreach (value, key, member)
		clean(member);
}

json_t *text_load(const char *text)
{
	json_t *root = json_loads(text, 0, NULL);

	clean(root);
	return root;
}

const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

char *text_join(const json_t *array, const char *between)
{
	_cleanup_free_ char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);
	json_t *part;

	if (!out)
		return NULL;
	json_array_foreach (array, i, part)
		fprintf(out, "%s%s", i ? between : "", json_string_value(part));
	if (fclose(out) != 0)
		return NULL;
	return TAKE_PTR(text);
}

const char *text_time(char buffer[TEXT_TIME_MAX], json_int_t usec)
{
	time_t seconds = (time_t)(usec / (json_int_t)USEC_PER_SEC);
	struct tm tm;

	if (usec <= 0 || !localtime_r(&seconds, &tm) ||
	    strftime(buffer, TEXT_TIME_MAX, "%Y-%m-%d %H:%M", &tm) == 0)
		return "unknown";
	return buffer;
}

static const char *print_moment(char buffer[TEXT_TIME_MAX], json_int_t usec, json_int_t now_usec,
				bool to_second)
{
	time_t seconds = (time_t)(usec / (json_int_t)USEC_PER_SEC);
	time_t now = (time_t)(now_usec / (json_int_t)USEC_PER_SEC);
	struct tm tm, today;
	size_t n = 0;

	if (usec <= 0 || !localtime_r(&seconds, &tm) || !localtime_r(&now, &today))
		return "-";
	if (tm.tm_yday != today.tm_yday || tm.tm_year != today.tm_year)
		n = strftime(buffer, TEXT_TIME_MAX, "%Y-%m-%d ", &tm);
	n = to_second ? strftime(buffer + n, TEXT_TIME_MAX - n, "%H:%M:%S", &tm)
		      : strftime(buffer + n, TEXT_TIME_MAX - n, "%H:%M", &tm);
	return n > 0 ? buffer : "-";
}

const char *text_moment(char buffer[TEXT_TIME_MAX], json_int_t usec, json_int_t now_usec)
{
	return print_moment(buffer, usec, now_usec, true);
}

const char *text_minute(char buffer[TEXT_TIME_MAX], json_int_t usec, json_int_t now_usec)
{
	return print_moment(buffer, usec, now_usec, false);
}

json_int_t text_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (json_int_t)now.tv_sec * (json_int_t)USEC_PER_SEC +
	       (json_int_t)now.tv_nsec / (json_int_t)NSEC_PER_USEC;
}

char *text_shares(const json_t *object)
{
	const char *class = text_of(object, "id");
	const json_t *shares = json_object_get(object, "shares");

	if (*class == '\0')
		class = text_of(object, "class");
	if (strcmp(class, "unpinned") == 0)
		return strdup("(any CPUs)");
	if (strncmp(class, "self", 4) == 0)
		return strdup("(one CPU)");
	return json_array_size(shares) == 0 ? strdup("nothing") : text_join(shares, " ");
}

static void print_field(const json_t *fingerprint, const char *key, const char *label)
{
	const char *value = text_of(json_object_get(fingerprint, "fields"), key);
	const char *why = text_of(json_object_get(fingerprint, "unavailable"), key);

	if (*value)
		printf("  %-13s %s\n", label, value);
	else
		printf("  %-13s unavailable, because %s\n", label, why);
}

void text_print_machine(const json_t *root)
{
	const json_t *fingerprint = json_object_get(root, "fingerprint");
	const char *source = text_of(root, "topology");

	if (!*source)
		source = text_of(root, "source");
	printf("Machine (%s), fingerprint %s:\n", source, text_of(fingerprint, "id"));
	print_field(fingerprint, "cpu_model", "processor");
	print_field(fingerprint, "cpu_id", "identity");
	print_field(fingerprint, "microcode", "microcode");
	print_field(fingerprint, "machine", "machine");
	print_field(fingerprint, "kernel", "kernel");
	print_field(fingerprint, "virtualisation", "hypervisor");
}

void text_print_guest(const char *hypervisor)
{
	if (*hypervisor)
		printf("In a virtual machine (%s): wakeups include what the hypervisor does,\n"
		       "and what CPUs share is its claim.\n",
		       hypervisor);
}
