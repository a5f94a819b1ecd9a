/* SPDX-License-Identifier: MIT */
/*
 * The errors that schedlab names: one table for daemon, guard and client.
 *
 * On the bus an error is `org.schedlab.Error.<name>` with a sentence that says what was tried, what
 * the kernel said and what would be accepted. The advice column is the general "what to do"; the
 * client shows it below the sentence. Inside a process the same error travels as a negative errno
 * plus a `struct fail` (daemon/util/fail.h).
 */
#pragma once

#include <errno.h>

#define SCHEDLAB_ERROR_PREFIX "org.schedlab.Error."

/* Columns: enum suffix, bus name, errno, the client's exit status, advice. */
#define SCHEDLAB_ERROR_TABLE(X)                                                                    \
	X(INVALID_ARGUMENT, "InvalidArgument", EINVAL, 2,                                          \
	  "Correct the argument that is named; nothing was done.")                                 \
	X(NO_SUCH_BENCHMARK, "NoSuchBenchmark", ENOENT, 2,                                         \
	  "'schedlabctl benchmarks' lists the benchmarks and their options.")                      \
	X(NO_SUCH_CLASS, "NoSuchClass", ENOENT, 2,                                                 \
	  "'schedlabctl topology' lists the pair classes of the machine.")                         \
	X(NO_SUCH_TUNABLE, "NoSuchTunable", ENOENT, 2,                                             \
	  "'schedlabctl tunables' lists what this kernel lets one set.")                           \
	X(NO_SUCH_JOB, "NoSuchJob", ENOENT, 2,                                                     \
	  "'schedlabctl history --kind job' shows all that are kept.")                             \
	X(NO_SUCH_EXPERIMENT, "NoSuchExperiment", ENOENT, 2,                                       \
	  "'schedlabctl experiment list' shows the experiments.")                                  \
	X(NOT_WRITABLE, "NotWritable", EROFS, 1,                                                   \
	  "'schedlabctl status' says what cannot be changed here, and why.")                       \
	X(RISK_REFUSED, "RiskRefused", EACCES, 2,                                                  \
	  "Read the reason; what is only risky can be forced with --force --reason.")              \
	X(VACUOUS, "Vacuous", ENODATA, 2, "Choose arms that can differ where they are measured.")  \
	X(CONFLICT, "Conflict", EADDRINUSE, 1, "Wait for the holder that is named, or ask it.")    \
	X(LIMITS_EXCEEDED, "LimitsExceeded", EDQUOT, 2,                                            \
	  "Ask for less, or wait until what was asked before has ended.")                          \
	X(BUSY, "Busy", EBUSY, 1,                                                                  \
	  "Wait until the other measurement has ended, or stop the process that is named.")        \
	X(NOT_HERE, "NotHere", EOPNOTSUPP, 2, "Run it on the machine that is meant.")              \
	X(JOURNAL_UNAVAILABLE, "JournalUnavailable", EIO, 1,                                       \
	  "Without an undo journal nothing is changed; make its directory writable.")              \
	X(STORE_UNAVAILABLE, "StoreUnavailable", ENOSTR, 1,                                        \
	  "Measuring goes on without it; 'schedlabctl status' says whether results are kept.")     \
	X(CANCELLED, "Cancelled", ECANCELED, 1, "It was asked to stop; start it again if wanted.") \
	X(FAILED, "Failed", EREMOTEIO, 1, "See the daemon's log for what led to it.")

enum schedlab_error {
#define X(id, name, err, status, advice) SCHEDLAB_ERROR_##id,
	SCHEDLAB_ERROR_TABLE(X)
#undef X
		SCHEDLAB_ERROR_MAX,
	SCHEDLAB_ERROR_INVALID = -EINVAL,
};
