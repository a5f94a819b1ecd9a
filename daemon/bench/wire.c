/* SPDX-License-Identifier: MIT */
/*
 * Messages between daemon and worker.
 */
#include "bench/wire.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static const char *const type_names[WIRE_TYPE_MAX] = {
	[WIRE_REQUEST] = "REQUEST", [WIRE_READY] = "READY", [WIRE_GO] = "GO",
	[WIRE_DONE] = "DONE",       [WIRE_BYE] = "BYE",     [WIRE_RESULT] = "RESULT",
	[WIRE_FAILED] = "FAILED",
};

const char *wire_type_name(enum wire_type type)
{
	return type > 0 && type < WIRE_TYPE_MAX ? type_names[type] : "unknown";
}

int wire_send(int fd, enum wire_type type, const char *payload, struct fail *f)
{
	size_t size = payload ? strlen(payload) : 0;
	struct wire_header header = {
		.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.type = (uint16_t)type,
		.size = (uint32_t)size,
	};
	union {
		const char *constant;
		void *plain;
	} bytes = { .constant = payload }; /* struct iovec has no constant base */
	struct iovec parts[] = {
		{ .iov_base = &header, .iov_len = sizeof(header) },
		{ .iov_base = bytes.plain, .iov_len = size },
	};
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = ELEMENTSOF(parts) };

	if (size > WIRE_PAYLOAD_MAX)
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "%s is %zu bytes; at most %d are sent",
				wire_type_name(type), size, WIRE_PAYLOAD_MAX);
	if (sendmsg(fd, &packet, MSG_NOSIGNAL) < 0)
		return fail_errno(f, errno, "cannot send %s", wire_type_name(type));
	return 0;
}

static int check_header(const struct wire_header *header, size_t received, struct fail *f)
{
	if (received < sizeof(*header) || header->magic != WIRE_MAGIC)
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "said something that is no message");
	if (header->version != WIRE_VERSION)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"speaks version %u of the protocol, not %d", header->version,
				WIRE_VERSION);
	if (header->type == 0 || header->type >= WIRE_TYPE_MAX)
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "sent a message of unknown type %u",
				header->type);
	if (header->size > WIRE_PAYLOAD_MAX || header->size != received - sizeof(*header))
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"sent a message that says %u bytes and holds %zu", header->size,
				received - sizeof(*header));
	return 0;
}

int wire_receive(int fd, struct wire_message *ret, struct fail *f)
{
	char packet[sizeof(struct wire_header) + WIRE_PAYLOAD_MAX + 1];
	struct wire_header header = { 0 };
	ssize_t n;

	do
		n = recv(fd, packet, sizeof(packet), MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return -EAGAIN;
	if (n == 0 || (n < 0 && errno == ECONNRESET)) {
		(void)fail_set(f, SCHEDLAB_ERROR_FAILED, "closed the connection");
		return -ECONNRESET;
	}
	if (n < 0)
		return fail_errno(f, errno, "cannot be heard");
	memcpy(&header, packet, MIN_OF((size_t)n, sizeof(header)));
	if (check_header(&header, (size_t)n, f) < 0)
		return -EBADMSG;
	ret->payload = strndup(packet + sizeof(header), header.size);
	if (!ret->payload)
		return fail_oom(f);
	ret->type = (enum wire_type)header.type;
	ret->size = header.size;
	return 0;
}
