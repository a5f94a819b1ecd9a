/* SPDX-License-Identifier: MIT */
/*
 * What daemon and worker say to each other, over a SOCK_SEQPACKET pair. Both ends are here.
 *
 *     daemon                               worker
 *       REQUEST (JSON)            ->         sets up, warms up, parks its tasks
 *                                 <-       READY
 *       kicks the CPUs, probes
 *       GO                        ->         the window
 *                                 <-       DONE    (tasks stopped and parked)
 *       probes
 *       BYE                       ->
 *                                 <-       RESULT (JSON), then it exits with status 0
 *
 * At any point the worker may send FAILED with a sentence instead, and exit. Every message is one
 * packet: a fixed header, and a payload of at most WIRE_PAYLOAD_MAX bytes whose size the header
 * says. Numbers are in the machine's byte order: both ends are on one machine.
 *
 * The worker may be started by the daemon or by a client (whose command it measures): the daemon
 * trusts nothing that comes from it.
 */
#pragma once

#include <sys/types.h>

#include "bench/bench.h"

#define WIRE_MAGIC       0x57424c53 /* "SLBW" */
#define WIRE_VERSION     1
#define WIRE_PAYLOAD_MAX 65536 /* bytes */

enum wire_type {
	WIRE_REQUEST = 1,
	WIRE_READY,
	WIRE_GO,
	WIRE_DONE,
	WIRE_BYE,
	WIRE_RESULT,
	WIRE_FAILED,
	WIRE_TYPE_MAX,
};

struct wire_header {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t size; /* bytes of payload behind the header */
};

struct wire_message {
	enum wire_type type;
	char *payload; /* with a NUL behind it; the receiver frees it */
	size_t size;
};

/* "READY", for sentences. */
const char *wire_type_name(enum wire_type type);

/* Sends one message; @payload may be NULL. Never raises SIGPIPE. */
int wire_send(int fd, enum wire_type type, const char *payload, struct fail *f);

/*
 * Receives one message. -EAGAIN (without a sentence) on a non-blocking socket where none is there;
 * -ECONNRESET when the other end has closed; -EBADMSG for anything that is not a message of this
 * version. Only on success *@ret is filled.
 */
int wire_receive(int fd, struct wire_message *ret, struct fail *f);

/* The payloads. Texts are new strings that the caller frees; NULL without memory. */
char *wire_format_request(const struct bench_request *request);
int wire_parse_request(const char *text, struct bench_request *ret, struct fail *f);
char *wire_format_result(const struct bench_request *request, const struct bench_result *result);

/*
 * Reads a result for @request and checks all that can be checked without knowing more: it is for
 * this benchmark, version and hash, each metric is there once as a finite number >= 0 or with a
 * reason, no other metric is, and the tasks are as many as there may be.
 */
int wire_parse_result(const char *text, const struct bench_request *request,
		      struct bench_result *ret, struct fail *f);
