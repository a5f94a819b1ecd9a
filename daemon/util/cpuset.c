/* SPDX-License-Identifier: MIT */
/*
 * Sets of CPUs: a bitmap that grows, and the kernel's list and mask formats.
 */
#include "util/cpuset.h"

#include <ctype.h>
#include <string.h>

#define WORD_BITS 64

struct cpuset *cpuset_new(void)
{
	return calloc(1, sizeof(struct cpuset));
}

struct cpuset *cpuset_free(struct cpuset *s)
{
	if (s)
		free(s->words);
	free(s);
	return NULL;
}

struct cpuset *cpuset_copy(const struct cpuset *s)
{
	_cleanup_(cpuset_freep) struct cpuset *copy = cpuset_new();

	if (!copy || cpuset_or(copy, s) < 0)
		return NULL;
	return TAKE_PTR(copy);
}

static int cpuset_grow(struct cpuset *s, size_t n_words)
{
	uint64_t *words;

	if (s->words && n_words <= s->n_words)
		return 0;
	words = reallocarray(s->words, n_words, sizeof(*words));
	if (!words)
		return -ENOMEM;
	memset(words + s->n_words, 0, (n_words - s->n_words) * sizeof(*words));
	s->words = words;
	s->n_words = n_words;
	return 0;
}

int cpuset_add(struct cpuset *s, unsigned int cpu)
{
	return cpuset_add_range(s, cpu, cpu);
}

int cpuset_add_range(struct cpuset *s, unsigned int first, unsigned int last)
{
	int r;

	if (last > CPUSET_CPU_MAX)
		return -ERANGE;
	r = cpuset_grow(s, last / WORD_BITS + 1);
	if (r < 0)
		return r;
	for (unsigned int cpu = first; cpu <= last; cpu++)
		s->words[cpu / WORD_BITS] |= UINT64_C(1) << (cpu % WORD_BITS);
	return 0;
}

void cpuset_remove(struct cpuset *s, unsigned int cpu)
{
	if (cpu / WORD_BITS < s->n_words)
		s->words[cpu / WORD_BITS] &= ~(UINT64_C(1) << (cpu % WORD_BITS));
}

/* Word @i of @s, 0 beyond its end and for NULL. */
static uint64_t cpuset_word(const struct cpuset *s, size_t i)
{
	return s && i < s->n_words ? s->words[i] : 0;
}

static size_t cpuset_n_words(const struct cpuset *s)
{
	return s ? s->n_words : 0;
}

bool cpuset_has(const struct cpuset *s, unsigned int cpu)
{
	return cpuset_word(s, cpu / WORD_BITS) >> (cpu % WORD_BITS) & 1;
}

bool cpuset_is_empty(const struct cpuset *s)
{
	return cpuset_first(s) < 0;
}

bool cpuset_equal(const struct cpuset *a, const struct cpuset *b)
{
	return cpuset_is_subset(a, b) && cpuset_is_subset(b, a);
}

bool cpuset_is_subset(const struct cpuset *inner, const struct cpuset *outer)
{
	for (size_t i = 0; i < cpuset_n_words(inner); i++)
		if (inner->words[i] & ~cpuset_word(outer, i))
			return false;
	return true;
}

size_t cpuset_count(const struct cpuset *s)
{
	size_t n = 0;

	for (size_t i = 0; i < cpuset_n_words(s); i++)
		n += (size_t)__builtin_popcountll(s->words[i]);
	return n;
}

int cpuset_next(const struct cpuset *s, unsigned int from)
{
	uint64_t word;

	if (from / WORD_BITS >= cpuset_n_words(s))
		return -1;
	word = s->words[from / WORD_BITS] >> (from % WORD_BITS) << (from % WORD_BITS);
	for (size_t i = from / WORD_BITS; i < s->n_words; word = cpuset_word(s, ++i))
		if (word)
			return (int)(i * WORD_BITS) + __builtin_ctzll(word);
	return -1;
}

int cpuset_first(const struct cpuset *s)
{
	return cpuset_next(s, 0);
}

void cpuset_and(struct cpuset *s, const struct cpuset *other)
{
	for (size_t i = 0; i < s->n_words; i++)
		s->words[i] &= cpuset_word(other, i);
}

int cpuset_or(struct cpuset *s, const struct cpuset *other)
{
	int r = cpuset_grow(s, cpuset_n_words(other));

	if (r < 0)
		return r;
	for (size_t i = 0; i < cpuset_n_words(other); i++)
		s->words[i] |= other->words[i];
	return 0;
}

void cpuset_andnot(struct cpuset *s, const struct cpuset *other)
{
	for (size_t i = 0; i < s->n_words; i++)
		s->words[i] &= ~cpuset_word(other, i);
}

static const char *skip_blanks(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

/* A decimal number of CPUs at *@p, moved past it. Anything beyond CPUSET_CPU_MAX is -ERANGE. */
static int parse_cpu(const char **p, unsigned int *ret)
{
	unsigned int value = 0;

	if (!isdigit((unsigned char)**p))
		return -EINVAL;
	for (; isdigit((unsigned char)**p); (*p)++) {
		value = value * 10 + (unsigned int)(**p - '0');
		if (value > CPUSET_CPU_MAX)
			return -ERANGE;
	}
	*ret = value;
	return 0;
}

/* One part of a list: "N", "N-M" or "N-M:used/of". */
static int parse_part(const char **p, struct cpuset *s)
{
	unsigned int first, last, used = 1, group = 1;
	int r;

	r = parse_cpu(p, &first);
	if (r < 0)
		return r;
	last = first;
	if (**p == '-') {
		(*p)++;
		r = parse_cpu(p, &last);
		if (r < 0)
			return r;
		if (**p == ':') {
			(*p)++;
			r = parse_cpu(p, &used);
			if (r < 0 || **p != '/')
				return -EINVAL;
			(*p)++;
			r = parse_cpu(p, &group);
			if (r < 0)
				return r;
		}
	}
	if (last < first || used == 0 || group < used)
		return -EINVAL;
	for (unsigned int start = first; start <= last && r >= 0; start += group)
		r = cpuset_add_range(s, start, MIN_OF(last, start + used - 1));
	return r;
}

/* What the kernel writes for "no CPU at all", in any of its versions. */
static bool is_nothing(const char *text)
{
	const char *p = skip_blanks(text);

	if (strncmp(p, "(null)", 6) == 0)
		p = skip_blanks(p + 6);
	return *p == '\0';
}

int cpuset_parse_list(const char *text, struct cpuset **ret, struct fail *f)
{
	_cleanup_(cpuset_freep) struct cpuset *s = cpuset_new();
	const char *p = skip_blanks(text);
	bool more = !is_nothing(text);

	if (!s)
		return fail_oom(f);
	while (more) {
		int r = parse_part(&p, s);

		if (r == -ENOMEM)
			return fail_oom(f);
		if (r == -ERANGE)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"CPU list '%.100s' names a CPU above %d", text,
					CPUSET_CPU_MAX);
		more = *p == ',';
		if (r < 0 || (!more && *skip_blanks(p) != '\0'))
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"'%.100s' is not a CPU list; one looks like 0-3,8,10-12",
					text);
		p++;
	}
	*ret = TAKE_PTR(s);
	return 0;
}

static int hex_value(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the digits from the last to the first, so that the width need not be known before. */
static int parse_mask_digits(const char *text, size_t length, struct cpuset *s)
{
	unsigned int cpu = 0, in_word = 0;

	for (size_t i = length; i-- > 0;) {
		int value = hex_value(text[i]);
		int r;

		if (text[i] == ',') {
			if (in_word == 0 || in_word > 8 || i == 0)
				return -EINVAL;
			cpu += (8 - in_word) * 4;
			in_word = 0;
			continue;
		}
		if (value < 0)
			return -EINVAL;
		for (unsigned int bit = 0; bit < 4; bit++) {
			if (!(value >> bit & 1))
				continue;
			r = cpuset_add(s, cpu + bit);
			if (r < 0)
				return r;
		}
		cpu += 4;
		in_word++;
	}
	return 0;
}

int cpuset_parse_mask(const char *text, struct cpuset **ret, struct fail *f)
{
	_cleanup_(cpuset_freep) struct cpuset *s = cpuset_new();
	const char *begin = skip_blanks(text);
	size_t length = strlen(begin);
	int r = 0;

	if (!s)
		return fail_oom(f);
	while (length > 0 && isspace((unsigned char)begin[length - 1]))
		length--;
	if (length > 2 && begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X')) {
		begin += 2;
		length -= 2;
	}
	if (!is_nothing(text))
		r = parse_mask_digits(begin, length, s);
	if (r == -ENOMEM)
		return fail_oom(f);
	if (r < 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"'%.100s' is not a CPU mask; one looks like ff,00000003", text);
	*ret = TAKE_PTR(s);
	return 0;
}

char *cpuset_format_list(const struct cpuset *s)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int first = cpuset_first(s); first >= 0;) {
		int last = first;

		while (cpuset_has(s, (unsigned int)last + 1))
			last++;
		fprintf(out, "%s%d", first == cpuset_first(s) ? "" : ",", first);
		if (last > first)
			fprintf(out, "-%d", last);
		first = cpuset_next(s, (unsigned int)last + 1);
	}
	if (fclose(out) != 0)
		return NULL;
	return TAKE_PTR(text);
}
