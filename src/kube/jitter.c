#include "kube/jitter.h"

#include <stdint.h>
#include <sys/random.h>

double kube_jitter(void)
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return 0;
	return (double) number / UINT32_MAX;
}
