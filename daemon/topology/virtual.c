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

static const char *dmi_hypervisor(const struct kernfs *k)
{
	static const char *const files[] = { "sys_vendor", "product_name", "board_vendor" };

	for (size_t i = 0; i < ELEMENTSOF(files); i++) {
		_cleanup_free_ char *text = NULL;

		if (kernfs_read(k, KERNFS_PATH(KERNFS_DMI "/%s", files[i]), &text, NULL, NULL) < 0)
			continue;
		for (size_t j = 0; j < ELEMENTSOF(dmi_names); j++)
			if (strstr(text, dmi_names[j].part))
				return dmi_names[j].name;
	}
	return NULL;
}

/* Where no x86 flag tells: POWER partitions, s390 guests, device trees. */
static const char *other_hypervisor(const struct kernfs *k)
{
	_cleanup_free_ char *sysinfo = NULL;

	if (kernfs_exists(k, KERNFS_DT "/hypervisor/compatible"))
		return "a hypervisor that the device tree names";
	if (kernfs_exists(k, KERNFS_PROC "/ppc64/lparcfg"))
		return "PowerVM or another that runs partitions";
	if (kernfs_read(k, KERNFS_PROC "/sysinfo", &sysinfo, NULL, NULL) == 0)
		return strstr(sysinfo, "VM00")   ? "z/VM or KVM"
		       : strstr(sysinfo, "LPAR") ? "an LPAR"
						 : NULL;
	return NULL;
}

static void note_shared_processors(struct topology *t, const struct kernfs *k)
{
	_cleanup_free_ char *lparcfg = NULL;

	if (kernfs_read(k, KERNFS_PROC "/ppc64/lparcfg", &lparcfg, NULL, NULL) == 0 &&
	    strstr(lparcfg, "shared_processor_mode=1"))
		topology_note(t, "this partition shares its processors: its CPUs are dispatched "
				 "anywhere, so the topology says nothing about what is near");
}

int topology_load_hypervisor(struct topology *t, const struct kernfs *k, struct fail *f)
{
	_cleanup_free_ char *cpuinfo = NULL;
	const char *name = NULL;
	bool x86_guest;

	if (!k)
		return 0;
	if (cpuinfo_read(k, &cpuinfo, NULL) < 0)
		cpuinfo = NULL;
	x86_guest = cpuinfo && cpuinfo_has_hypervisor(cpuinfo);
	if (x86_guest && t->source == TOPOLOGY_THIS)
		name = cpuid_hypervisor();
	/* A cloud's bare metal has the cloud's name in DMI too: only a guest's flag makes it one. */
	if (!name && (x86_guest || !cpuinfo || !strstr(cpuinfo, "flags")))
		name = dmi_hypervisor(k);
	if (!name)
		name = other_hypervisor(k);
	if (!name && x86_guest)
		name = "a hypervisor that does not tell its name";
	note_shared_processors(t, k);
	if (!name)
		return 0;
	t->hypervisor = strdup(name);
	return t->hypervisor ? 0 : fail_oom(f);
}
