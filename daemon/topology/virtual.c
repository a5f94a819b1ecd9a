/* SPDX-License-Identifier: MIT */
/*
 * Whether the machine is a guest, and whose. In a guest, caches and distances are what the
 * hypervisor claims.
 */
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "topology/cpuinfo.h"
#include "topology/load.h"

/* Parts of what DMI calls the vendor or the product of a guest's board. */
static const struct {
	const char *part, *name;
} dmi_names[] = {
	{ "QEMU", "QEMU" },
	{ "KVM", "KVM" },
	{ "Amazon EC2", "Amazon EC2" },
	{ "Google", "Google Compute Engine" },
	{ "VMware", "VMware" },
	{ "Microsoft", "Hyper-V" },
	{ "Xen", "Xen" },
	{ "innotek", "VirtualBox" },
	{ "Parallels", "Parallels" },
};

/* CPUID leaf 0x40000000 of the processor that this runs on: only for this machine. */
static const char *cpuid_hypervisor(void)
{
#if defined(__x86_64__) || defined(__i386__)
	static const struct {
		const char *signature, *name;
	} known[] = {
		{ "KVMKVMKVM", "KVM" },        { "TCGTCGTCGTCG", "QEMU without KVM" },
		{ "Microsoft Hv", "Hyper-V" }, { "VMwareVMware", "VMware" },
		{ "XenVMMXenVMM", "Xen" },     { "bhyve bhyve ", "bhyve" },
	};
	unsigned int a, b, c, d;
	char signature[13] = "";

	__cpuid(0x40000000, a, b, c, d);
	memcpy(signature, &b, 4);
	memcpy(signature + 4, &c, 4);
	memcpy(signature + 8, &d, 4);
	for (size_t i = 0; i < ELEMENTSOF(known); i++)
		if (strncmp(signature, known[i].signature, strlen(known[i].signature)) == 0)
			return known[i].name;
#endif
	return NULL;
}

/* False where the firmware's tables cannot be read: then *@ret_name says nothing. */
static bool read_dmi(const struct kernfs *k, const char **ret_name)
{
	static const char *const files[] = { "sys_vendor", "product_name", "board_vendor" };
	bool any = false, metal = false;

	*ret_name = NULL;
	for (size_t i = 0; i < ELEMENTSOF(files); i++) {
		_cleanup_free_ char *text = NULL;

		if (kernfs_read_trimmed(k, KERNFS_PATH(KERNFS_DMI "/%s", files[i]), &text, NULL) <
		    0)
			continue;
		any = true;
		/* A cloud's bare machines carry its name too: "c6g.metal". */
		metal |= strstr(text, ".metal") != NULL;
		for (size_t j = 0; j < ELEMENTSOF(dmi_names) && !*ret_name; j++)
			if (strstr(text, dmi_names[j].part))
				*ret_name = dmi_names[j].name;
	}
	if (metal)
		*ret_name = NULL;
	return any;
}

/* Machines that exist in device trees of guests only; the file holds texts with NULs between them. */
static bool is_made_up(const struct kernfs *k)
{
	static const char *const names[] = { "linux,dummy-virt", "qemu," };
	_cleanup_free_ char *compatible = NULL;
	size_t size = 0;

	if (kernfs_read(k, KERNFS_DT "/compatible", &compatible, &size, NULL) < 0)
		return false;
	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		if (memmem(compatible, size, names[i], strlen(names[i])))
			return true;
	return false;
}

/* "platform : pSeries": Linux runs in a partition, never on the bare machine ("PowerNV"). */
static bool is_partition(const char *cpuinfo)
{
	_cleanup_free_ char *platform = cpuinfo ? cpuinfo_value(cpuinfo, "platform") : NULL;

	return platform && strcmp(platform, "pSeries") == 0;
}

/* POWER partitions, s390 guests, device trees. False where none of these can tell. */
static bool read_platform(const struct kernfs *k, const char *cpuinfo, const char **ret_name)
{
	_cleanup_free_ char *sysinfo = NULL;

	*ret_name = NULL;
	if (kernfs_exists(k, KERNFS_DT "/hypervisor/compatible"))
		*ret_name = "a hypervisor that the device tree names";
	else if (is_made_up(k))
		*ret_name = "QEMU, KVM or another of their kind";
	else if (is_partition(cpuinfo) || kernfs_exists(k, KERNFS_PROC "/ppc64/lparcfg"))
		*ret_name = "PowerVM or another that runs partitions";
	else if (kernfs_read(k, KERNFS_PROC "/sysinfo", &sysinfo, NULL, NULL) == 0)
		*ret_name = strstr(sysinfo, "VM00") ? "z/VM or KVM" : "an LPAR";
	return *ret_name || kernfs_exists(k, KERNFS_DT "/compatible") ||
	       (cpuinfo && strstr(cpuinfo, "PowerNV"));
}

static void note_shared_processors(struct topology *t, const struct kernfs *k)
{
	_cleanup_free_ char *lparcfg = NULL;

	if (kernfs_read(k, KERNFS_PROC "/ppc64/lparcfg", &lparcfg, NULL, NULL) == 0 &&
	    strstr(lparcfg, "shared_processor_mode=1"))
		topology_note(t, "this partition shares its processors: its CPUs are dispatched "
				 "anywhere, so the topology says nothing about what is near");
}

/* Whose guest this is, or NULL for none; false where it cannot be told. */
static bool find_hypervisor(const struct topology *t, const struct kernfs *k, const char *cpuinfo,
			    const char **ret_name)
{
	_cleanup_free_ char *flags = cpuinfo ? cpuinfo_value(cpuinfo, "flags") : NULL;
	const char *dmi = NULL;
	bool told;

	*ret_name = NULL;
	/* On x86 the processor itself says whether it is a guest's. */
	if (flags && !cpuinfo_has_hypervisor(cpuinfo))
		return true;
	told = read_dmi(k, &dmi);
	if (flags) {
		if (t->source == TOPOLOGY_THIS)
			*ret_name = cpuid_hypervisor();
		if (!*ret_name)
			*ret_name = dmi ? dmi
				    : t->source == TOPOLOGY_THIS
					    ? "a hypervisor that does not tell its name"
					    : "a hypervisor, whose name this copy does not hold";
		return true;
	}
	if (dmi) {
		*ret_name = dmi;
		return true;
	}
	return read_platform(k, cpuinfo, ret_name) || told;
}

int topology_load_hypervisor(struct topology *t, const struct kernfs *k, struct fail *f)
{
	_cleanup_free_ char *cpuinfo = NULL;
	const char *name = NULL, *why_not = NULL;

	if (!k) {
		why_not = "this description of a topology does not hold it";
	} else {
		if (cpuinfo_read(k, &cpuinfo, NULL) < 0)
			cpuinfo = NULL;
		if (!find_hypervisor(t, k, cpuinfo, &name))
			why_not = "neither /proc/cpuinfo nor the firmware's tables tell";
		note_shared_processors(t, k);
	}
	if (why_not && !(t->hypervisor_why_not = strdup(why_not)))
		return fail_oom(f);
	if (name && !(t->hypervisor = strdup(name)))
		return fail_oom(f);
	return 0;
}
