/* SPDX-License-Identifier: MIT */
/*
 * The fields of the fingerprint, one reader each.
 */
#include "topology/fingerprint.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "topology/cpuinfo.h"

struct reading {
	const struct kernfs *k; /* NULL where the source is no tree of files */
	const struct topology *t;
	char *cpuinfo; /* NULL if it cannot be read */
	struct fail cpuinfo_fail;
};

/* Gives the value, or NULL and the reason in @why. */
typedef char *(*field_reader)(const struct reading *in, struct fail *why);

static char *trimmed(const struct reading *in, const char *path, struct fail *why)
{
	char *value = NULL;

	return kernfs_read_trimmed(in->k, path, &value, why) < 0 ? NULL : value;
}

static char *from_cpuinfo(const struct reading *in, char *value, struct fail *why)
{
	if (!in->cpuinfo)
		(void)fail_set(why, SCHEDLAB_ERROR_FAILED, "%s", in->cpuinfo_fail.message);
	else if (!value)
		(void)fail_set(why, SCHEDLAB_ERROR_FAILED, "/proc/cpuinfo does not tell");
	return value;
}

static char *read_model(const struct reading *in, struct fail *why)
{
	return from_cpuinfo(in, in->cpuinfo ? cpuinfo_model(in->cpuinfo) : NULL, why);
}

static char *read_cpu_id(const struct reading *in, struct fail *why)
{
	return from_cpuinfo(in, in->cpuinfo ? cpuinfo_identity(in->cpuinfo) : NULL, why);
}

static char *read_microcode(const struct reading *in, struct fail *why)
{
	unsigned int cpu = (unsigned int)cpuset_first(in->t->online);
	char *value = NULL;

	if (kernfs_read_trimmed(in->k, KERNFS_PATH(KERNFS_CPU "/cpu%u/microcode/version", cpu),
				&value, NULL) == 0)
		return value;
	return from_cpuinfo(in, in->cpuinfo ? cpuinfo_value(in->cpuinfo, "microcode") : NULL, why);
}

static char *read_topology(const struct reading *in, struct fail *why)
{
	char *value = NULL;

	(void)why;
	return asprintf(&value, "%016" PRIx64, topology_hash(in->t)) < 0 ? NULL : value;
}

/* "Linux version RELEASE (who built it) (by which compiler) VERSION", as RELEASE and VERSION: a copy
 * of a machine has its fingerprint. */
static char *read_proc_version(const struct reading *in)
{
	static const char start[] = "Linux version ";
	_cleanup_free_ char *text = trimmed(in, KERNFS_PROC "/version", NULL);
	char *value = NULL;
	size_t release = strlen(start), version;

	if (!text || strncmp(text, start, release) != 0)
		return TAKE_PTR(text);
	version = strcspn(text, "#");
	if (text[version] == '\0')
		return TAKE_PTR(text);
	if (asprintf(&value, "%.*s %s", (int)strcspn(text + release, " "), text + release,
		     text + version) < 0)
		return NULL;
	return value;
}

static char *read_kernel(const struct reading *in, struct fail *why)
{
	_cleanup_free_ char *release = trimmed(in, KERNFS_PROC "/sys/kernel/osrelease", why);
	_cleanup_free_ char *version = trimmed(in, KERNFS_PROC "/sys/kernel/version", NULL);
	char *value = NULL;

	/* Copies of other machines seldom hold /proc/sys. */
	if (!release)
		return read_proc_version(in);
	return asprintf(&value, "%s%s%s", release, version ? " " : "", version ? version : "") < 0
		       ? NULL
		       : value;
}

static char *read_command_line(const struct reading *in, struct fail *why)
{
	return trimmed(in, KERNFS_PROC "/cmdline", why);
}

/* "meltdown: Not affected; spectre_v2: Mitigation: ..." */
static char *read_mitigations(const struct reading *in, struct fail *why)
{
	static const char dir[] = KERNFS_CPU "/vulnerabilities";
	_cleanup_free_ char *text = NULL;
	char **names = NULL;
	size_t n = 0, size;
	FILE *out;

	if (kernfs_read_names(in->k, dir, &names, &n, why) < 0)
		return NULL;
	out = open_memstream(&text, &size);
	for (size_t i = 0; out && i < n; i++) {
		_cleanup_free_ char *state = trimmed(in, KERNFS_PATH("%s/%s", dir, names[i]), NULL);

		fprintf(out, "%s%s: %s", i ? "; " : "", names[i], state ? state : "not readable");
	}
	kernfs_free_names(names, n);
	if (!out || fclose(out) != 0)
		return NULL;
	return TAKE_PTR(text);
}

/* The texts of @files that can be read, with blanks between them. */
static char *join_files(const struct reading *in, const char *dir, const char *const *files,
			size_t n, struct fail *why)
{
	_cleanup_free_ char *text = NULL;
	bool any = false;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		/* If there is none, the first says why. */
		_cleanup_free_ char *part =
			trimmed(in, KERNFS_PATH("%s/%s", dir, files[i]), i ? NULL : why);

		if (!part || !*part)
			continue;
		fprintf(out, "%s%s", any ? " " : "", part);
		any = true;
	}
	if (fclose(out) != 0 || !any)
		return NULL;
	return TAKE_PTR(text);
}

static char *read_machine(const struct reading *in, struct fail *why)
{
	static const char *const files[] = { "sys_vendor", "product_name", "product_version" };
	char *value = join_files(in, KERNFS_DMI, files, ELEMENTSOF(files), why);

	return value ? value : trimmed(in, KERNFS_DT "/model", NULL);
}

static char *read_firmware(const struct reading *in, struct fail *why)
{
	static const char *const files[] = { "bios_vendor", "bios_version", "bios_date" };

	return join_files(in, KERNFS_DMI, files, ELEMENTSOF(files), why);
}

static char *read_virtualisation(const struct reading *in, struct fail *why)
{
	if (in->t->hypervisor_why_not) {
		(void)fail_set(why, SCHEDLAB_ERROR_FAILED, "%s", in->t->hypervisor_why_not);
		return NULL;
	}
	return strdup(in->t->hypervisor ? in->t->hypervisor : "none");
}

static char *read_idle_driver(const struct reading *in, struct fail *why)
{
	return trimmed(in, KERNFS_CPU "/cpuidle/current_driver", why);
}

static char *read_idle_governor(const struct reading *in, struct fail *why)
{
	char *value = trimmed(in, KERNFS_CPU "/cpuidle/current_governor_ro", NULL);

	return value ? value : trimmed(in, KERNFS_CPU "/cpuidle/current_governor", why);
}

static char *read_cpufreq(const struct reading *in, const char *file, struct fail *why)
{
	unsigned int cpu = (unsigned int)cpuset_first(in->t->online);

	return trimmed(in, KERNFS_PATH(KERNFS_CPU "/cpu%u/cpufreq/%s", cpu, file), why);
}

static char *read_frequency_driver(const struct reading *in, struct fail *why)
{
	return read_cpufreq(in, "scaling_driver", why);
}

static char *read_frequency_governor(const struct reading *in, struct fail *why)
{
	return read_cpufreq(in, "scaling_governor", why);
}

static char *read_clock_source(const struct reading *in, struct fail *why)
{
	return trimmed(
		in, KERNFS_SYS "/devices/system/clocksource/clocksource0/current_clocksource", why);
}

static char *read_smt(const struct reading *in, struct fail *why)
{
	return trimmed(in, KERNFS_CPU "/smt/control", why);
}

/* The BPF scheduler that has taken the place of the fair class, if any. */
static char *read_sched_ext(const struct reading *in, struct fail *why)
{
	_cleanup_free_ char *state = trimmed(in, KERNFS_SYS "/kernel/sched_ext/state", why);
	_cleanup_free_ char *ops = NULL;
	char *value = NULL;

	if (!state || strcmp(state, "disabled") == 0)
		return TAKE_PTR(state);
	ops = trimmed(in, KERNFS_SYS "/kernel/sched_ext/root/ops", NULL);
	return asprintf(&value, "%s%s%s", state, ops ? " " : "", ops ? ops : "") < 0 ? NULL : value;
}

static char *read_autogroup(const struct reading *in, struct fail *why)
{
	return trimmed(in, KERNFS_PROC "/sys/kernel/sched_autogroup_enabled", why);
}

static const struct {
	const char *key;
	bool identity;
	field_reader read;
} readers[] = {
	{ "cpu_model", true, read_model },
	{ "cpu_id", true, read_cpu_id },
	{ "microcode", true, read_microcode },
	{ "topology", true, read_topology },
	{ "kernel", true, read_kernel },
	{ "command_line", true, read_command_line },
	{ "mitigations", true, read_mitigations },
	{ "machine", true, read_machine },
	{ "firmware", true, read_firmware },
	{ "virtualisation", true, read_virtualisation },
	{ "idle_driver", false, read_idle_driver },
	{ "idle_governor", false, read_idle_governor },
	{ "frequency_driver", false, read_frequency_driver },
	{ "frequency_governor", false, read_frequency_governor },
	{ "clock_source", false, read_clock_source },
	{ "smt_control", false, read_smt },
	{ "sched_ext", false, read_sched_ext },
	{ "sched_autogroup", false, read_autogroup },
};

/* Key and value of every identity field, NULs between them; a missing value counts as missing. */
static void make_id(struct fingerprint *fp)
{
	XXH3_state_t *state = XXH3_createState();

	if (!state)
		return;
	XXH3_64bits_reset(state);
	for (size_t i = 0; i < fp->n_fields; i++) {
		const struct fingerprint_field *field = &fp->fields[i];

		if (!field->identity)
			continue;
		XXH3_64bits_update(state, field->key, strlen(field->key) + 1);
		if (field->value)
			XXH3_64bits_update(state, field->value, strlen(field->value) + 1);
	}
	(void)snprintf(fp->id, sizeof(fp->id), "%016" PRIx64, (uint64_t)XXH3_64bits_digest(state));
	XXH3_freeState(state);
}

/* What an XML file says of the machine that it was made on. */
static char *read_described(const struct topology *t, const char *key, struct fail *why)
{
	for (size_t i = 0; i < TOPOLOGY_DESCRIBED_MAX; i++)
		if (t->described[i].key && strcmp(t->described[i].key, key) == 0)
			return strdup(t->described[i].value);
	(void)fail_set(why, SCHEDLAB_ERROR_FAILED,
		       "this description of a topology does not hold it");
	return NULL;
}

/* Firmware and command lines may hold any byte; JSON and D-Bus take UTF-8 only. */
static void make_printable(char *text)
{
	const char *begin = text;
	char *out = text;

	for (; *text; text++) {
		/* Names are padded with blanks by those who burn them in. */
		if (*text == ' ' && out > begin && out[-1] == ' ')
			continue;
		*out++ = (unsigned char)*text < ' ' || (unsigned char)*text > '~' ? '?' : *text;
	}
	*out = '\0';
}

static int read_fields(struct fingerprint *fp, const struct reading *in, struct fail *f)
{
	for (size_t i = 0; i < ELEMENTSOF(readers); i++) {
		struct fingerprint_field *field = &fp->fields[i];
		struct fail why = { .message = "out of memory" };

		field->key = readers[i].key;
		field->identity = readers[i].identity;
		fp->n_fields++;
		if (in->k || readers[i].read == read_topology)
			field->value = readers[i].read(in, &why);
		else
			field->value = read_described(in->t, field->key, &why);
		if (field->value && *field->value != '\0') {
			make_printable(field->value);
			continue;
		}
		if (field->value) {
			free(field->value);
			field->value = NULL;
			(void)fail_set(&why, SCHEDLAB_ERROR_FAILED, "the kernel's file is empty");
		}
		field->why_not = strdup(why.message);
		if (!field->why_not)
			return fail_oom(f);
	}
	return 0;
}

int fingerprint_read(const struct kernfs *k, const struct topology *t, struct fingerprint **ret,
		     struct fail *f)
{
	_cleanup_(fingerprint_freep) struct fingerprint *fp = calloc(1, sizeof(*fp));
	_cleanup_(kernfs_freep) struct kernfs *own = NULL;
	struct reading in = { .k = k, .t = t };
	int r;

	if (!fp || !(fp->fields = calloc(ELEMENTSOF(readers), sizeof(*fp->fields))))
		return fail_oom(f);
	if (t->source == TOPOLOGY_DIR) {
		r = kernfs_new(t->source_name, &own, f);
		if (r < 0)
			return r;
		in.k = own;
	} else if (t->source != TOPOLOGY_THIS) {
		in.k = NULL;
	}
	if (in.k && cpuinfo_read(in.k, &in.cpuinfo, &in.cpuinfo_fail) < 0)
		in.cpuinfo = NULL;
	r = read_fields(fp, &in, f);
	free(in.cpuinfo);
	if (r < 0)
		return r;
	make_id(fp);
	*ret = TAKE_PTR(fp);
	return 0;
}

struct fingerprint *fingerprint_free(struct fingerprint *fp)
{
	if (!fp)
		return NULL;
	for (size_t i = 0; i < fp->n_fields; i++) {
		free(fp->fields[i].value);
		free(fp->fields[i].why_not);
	}
	free(fp->fields);
	free(fp);
	return NULL;
}

const char *fingerprint_get(const struct fingerprint *fp, const char *key)
{
	for (size_t i = 0; i < fp->n_fields; i++)
		if (strcmp(fp->fields[i].key, key) == 0)
			return fp->fields[i].value;
	return NULL;
}

json_t *fingerprint_to_json(const struct fingerprint *fp)
{
	json_t *fields = json_object(), *missing = json_object();

	for (size_t i = 0; i < fp->n_fields; i++) {
		const struct fingerprint_field *field = &fp->fields[i];

		json_object_set_new(field->value ? fields : missing, field->key,
				    json_string(field->value ? field->value : field->why_not));
	}
	return json_pack("{s:s, s:o, s:o}", "id", fp->id, "fields", fields, "unavailable", missing);
}
