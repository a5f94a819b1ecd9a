/* SPDX-License-Identifier: MIT */
/*
 * Which slot of a histogram a value has, and which values a slot has. For the histogram's own
 * files.
 *
 * Slot numbers below 2^bits are the values themselves. Above, (power - bits + 1) is the number's
 * upper part, and the bits after the value's leading one are its lower part.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline size_t histogram_slot(unsigned int bits, uint64_t value)
{
	unsigned int shift;

	if (value < UINT64_C(1) << bits)
		return (size_t)value;
	shift = 63 - (unsigned int)__builtin_clzll(value) - bits;
	return ((size_t)shift << bits) + (size_t)(value >> shift);
}

static inline uint64_t histogram_slot_low(unsigned int bits, size_t slot)
{
	size_t part = slot >> bits, shift = part > 0 ? part - 1 : 0;

	return (uint64_t)(slot - (shift << bits)) << shift;
}

static inline uint64_t histogram_slot_high(unsigned int bits, size_t slot)
{
	size_t part = slot >> bits, shift = part > 0 ? part - 1 : 0;

	return histogram_slot_low(bits, slot) + ((UINT64_C(1) << shift) - 1);
}
