/* SPDX-License-Identifier: MIT */
/*
 * schedlab on D-Bus: marshalling only. conf/dbus/org.schedlab.SchedLab1.xml is the truth about names
 * and types, and a test holds what is served against it.
 *
 * Reading is open to all. What acts (Measure, Cancel) has no SD_BUS_VTABLE_UNPRIVILEGED: sd-bus lets
 * only root and the daemon's own user through, until polkit is asked.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "measure/measure.h"
#include "topology/class.h"
#include "topology/fingerprint.h"

/* What the objects on the bus are made from. Made by app; outlives the bus. */
struct bus_context {
	sd_bus *bus;
	const struct kernfs *kernfs;
	struct topology *topology;
	const struct fingerprint *fingerprint;
	const struct class_table *classes;
	struct job_queue *queue;
	struct measure_context *measure;
	struct store *store;
	/* Called before the topology is told or used: looks whether CPUs came or went since. */
	void (*refresh)(void *userdata);
	void *refresh_userdata;

	/* Only bus/ touches these. */
	struct job_owner *owners;
	uint64_t last_change_ns; /* when progress was last told */
	struct stream *streams;
	uint64_t last_record, told_record, last_record_ns; /* highest sequence: added, told, when */
};

/* Adds all objects to the bus, and observes the jobs. */
int bus_attach(struct bus_context *context);
/* Tells that the objects of all classes go, or have come: around a change of the topology. */
void bus_tell_classes(const struct bus_context *context, bool come);
/* Forgets who owns which job; the bus is still the caller's. */
void bus_detach(struct bus_context *context);
