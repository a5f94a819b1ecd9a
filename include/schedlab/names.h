/* SPDX-License-Identifier: MIT */
/*
 * Every name that daemon and client share: bus, objects, interfaces, files.
 */
#pragma once

#define SCHEDLAB_BUS_NAME "org.schedlab.SchedLab1"
#define SCHEDLAB_PATH     "/org/schedlab/SchedLab1"

/* Children of SCHEDLAB_PATH; the last part of a path is sd_bus_path_encode()d. */
#define SCHEDLAB_PATH_CLASS     SCHEDLAB_PATH "/class"
#define SCHEDLAB_PATH_BENCHMARK SCHEDLAB_PATH "/benchmark"
#define SCHEDLAB_PATH_JOB       SCHEDLAB_PATH "/job"

#define SCHEDLAB_INTERFACE_MANAGER   SCHEDLAB_BUS_NAME ".Manager"
#define SCHEDLAB_INTERFACE_CLASS     SCHEDLAB_BUS_NAME ".PairClass"
#define SCHEDLAB_INTERFACE_BENCHMARK SCHEDLAB_BUS_NAME ".Benchmark"
#define SCHEDLAB_INTERFACE_JOB       SCHEDLAB_BUS_NAME ".Job"

/* Held by flock(2) while a daemon measures: one at a time a machine. Mode 0644, never removed. */
#define SCHEDLAB_LOCK_FILE "/run/lock/schedlab.lock"

#define SCHEDLAB_CONF_FILE "/etc/schedlab/schedlabd.conf"

/* Where the service keeps its store; other daemons have $XDG_STATE_HOME/schedlab. */
#define SCHEDLAB_STATE_DIR "/var/lib/schedlab"

/* The account that the service runs as; made by sysusers. */
#define SCHEDLAB_USER "schedlab"

/* The `schema` member of every JSON document: "schedlab.<kind>/<version>". */
#define SCHEDLAB_SCHEMA(kind) "schedlab." kind "/1"
