#include "kube/jitter.h"

#include "io/random.h"

#include <stdint.h>

double kube_jitter(void)
{
	uint32_t number;

	random_bytes(&number, sizeof(number));
	return (double) number / UINT32_MAX;
}
