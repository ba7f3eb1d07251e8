/* A library that looks like NVIDIA's NVML to muster, and knows as many GPUs as it was compiled
 * with.
 *
 *     cc -shared -fPIC -DSTUB_GPUS=2 -o libnvidia-ml.so.1 stub_nvml.c
 *
 * STUB_MIG: each GPU is cut into that many MIG devices. STUB_FAILS: there is no driver behind it.
 * STUB_CRASHES. STUB_HANGS: it hangs when the answer is over. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef STUB_MIG
#define STUB_MIG 0
#endif

struct device {
	unsigned gpu;
	unsigned mig; /* counted from 1; 0: the GPU itself */
};

static struct device devices[64][8];

int nvmlInit_v2(void)
{
#ifdef STUB_CRASHES
	abort();
#endif
#ifdef STUB_HANGS
	close(1);
	for (;;)
		pause();
#endif
#ifdef STUB_FAILS
	return 9;
#endif
	for (unsigned gpu = 0; gpu < 64; gpu++)
		for (unsigned mig = 0; mig < 8; mig++)
			devices[gpu][mig] = (struct device){gpu, mig};
	return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
	return snprintf(version, size, "550.54.14") < 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = STUB_GPUS;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **device)
{
	*device = &devices[index][0];
	return 0;
}

int nvmlDeviceGetName(const struct device *device, char *name, unsigned size)
{
	return snprintf(name, size, "Stub %u", device->gpu < 2 ? 40 : 80) < 0;
}

int nvmlDeviceGetUUID(const struct device *device, char *uuid, unsigned size)
{
	return device->mig ? snprintf(uuid, size, "MIG-%u-%u", device->gpu, device->mig - 1) < 0
			   : snprintf(uuid, size, "GPU-%u", device->gpu) < 0;
}

int nvmlDeviceGetMaxMigDeviceCount(const struct device *device, unsigned *count)
{
	(void) device;
	*count = 7;
	return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(const struct device *device, unsigned index,
					struct device **mig_device)
{
	*mig_device = &devices[device->gpu][index + 1];
	return index < STUB_MIG ? 0 : 6;
}

#ifdef STUB_LOADS

/* GPU 0 computes for process STUB_LOADS and one that is not there; the others do not say much. */

int nvmlDeviceGetUtilizationRates(const struct device *device, unsigned utilization[2])
{
	utilization[0] = 93;
	utilization[1] = 40;
	return device->gpu == 0 ? 0 : 3;
}

int nvmlDeviceGetMemoryInfo(const struct device *device, unsigned long long memory[3])
{
	memory[0] = 40960ull << 20;
	memory[2] = device->gpu == 0 ? 12288ull << 20 : 0;
	memory[1] = memory[0] - memory[2];
	return 0;
}

int nvmlDeviceGetTemperature(const struct device *device, int sensor, unsigned *degrees)
{
	*degrees = 65;
	return sensor || device->gpu ? 3 : 0;
}

int nvmlDeviceGetPowerUsage(const struct device *device, unsigned *milliwatts)
{
	*milliwatts = 250400;
	return device->gpu ? 3 : 0;
}

struct process {
	unsigned pid;
	unsigned long long memory;
	unsigned instances[2];
};

int nvmlDeviceGetComputeRunningProcesses_v3(const struct device *device, unsigned *count,
					    struct process *processes)
{
	if (device->gpu)
		return 3;
	if (*count < 2)
		return 7;
	*count = 2;
	processes[0] = (struct process){STUB_LOADS, 12000ull << 20, {0, 0}};
	processes[1] = (struct process){999999999, -1ull, {0, 0}};
	return 0;
}

#endif
