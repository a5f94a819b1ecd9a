/* SPDX-License-Identifier: MIT */
/*
 * What the files of bus/ share. Only for files of this directory.
 */
#pragma once

#include "bus/bus.h"

/* One vtable an interface; userdata is the struct bus_context, or what find() of a path gives. */
extern const sd_bus_vtable bus_manager_vtable[], bus_class_vtable[], bus_benchmark_vtable[],
	bus_job_vtable[];

/* Turns a failure into the error reply of a method; returns a negative errno for sd-bus. */
int bus_fail(sd_bus_error *error, const struct fail *f);

/* Makes our errors known to sd-bus, so that both sides have names and errnos. */
int bus_register_errors(void);

/* The object path of a thing below SCHEDLAB_PATH; the caller frees it; NULL without memory. */
char *bus_path(const char *prefix, const char *id);
char *bus_job_path(const struct job *job);

/* Replies with one JSON text; takes over the reference. */
int bus_reply_json(sd_bus_message *call, json_t *root, sd_bus_error *error);

/* For sd_bus_add_fallback_vtable() and sd_bus_add_node_enumerator(): the objects of each kind. */
int bus_find_class(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret,
		   sd_bus_error *error);
int bus_list_classes(sd_bus *bus, const char *prefix, void *userdata, char ***ret,
		     sd_bus_error *error);
int bus_find_benchmark(sd_bus *bus, const char *path, const char *interface, void *userdata,
		       void **ret, sd_bus_error *error);
int bus_list_benchmarks(sd_bus *bus, const char *prefix, void *userdata, char ***ret,
			sd_bus_error *error);
int bus_find_job(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret,
		 sd_bus_error *error);
int bus_list_jobs(sd_bus *bus, const char *prefix, void *userdata, char ***ret,
		  sd_bus_error *error);

/* Methods of Manager that have files of their own. */
int bus_method_query_page(sd_bus_message *call, void *userdata, sd_bus_error *error);
int bus_method_query(sd_bus_message *call, void *userdata, sd_bus_error *error);
int bus_method_get_job_result(sd_bus_message *call, void *userdata, sd_bus_error *error);
int bus_method_describe_fingerprint(sd_bus_message *call, void *userdata, sd_bus_error *error);
int bus_method_check_store(sd_bus_message *call, void *userdata, sd_bus_error *error);
int bus_method_backup_store(sd_bus_message *call, void *userdata, sd_bus_error *error);
int bus_method_clear_store(sd_bus_message *call, void *userdata, sd_bus_error *error);
int bus_method_resize_store(sd_bus_message *call, void *userdata, sd_bus_error *error);

/* store_look(), for what is there now: also where a backup was put back. */
int bus_look(const struct bus_context *context, struct store_view *ret, struct fail *f);

/* For store_observe(): RecordAdded, now or soon; and now, where one has not been told yet. */
void bus_on_record(uint64_t sequence, void *userdata);
void bus_tell_records(struct bus_context *context);

/* The observer of jobs: signals and property changes. */
struct job_observer bus_job_observer(struct bus_context *context);

/* Cancels @job when who sent @call leaves the bus. On a socket pair the daemon ends with its only
 * client anyway. */
int bus_bind_job(struct bus_context *context, sd_bus_message *call, struct job *job);
