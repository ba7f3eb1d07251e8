/* Any bytes as what a master tells a Pod: what is taken fits into the variables of a program. */
#include "fuzz.h"

#include "spec/elasticdl.h"
#include "spec/limits.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct pod_config config CLEANUP(pod_config_done) = {0};
	struct err err = {0};

	if (pod_config_read((const char *) bytes, len, &config, &err) < 0) {
		if (!err.text[0] || config.tf_config)
			abort();
		return 0;
	}
	if (config.tf_config[0] != '{' || strchr(config.tf_config, '\n') ||
	    strlen(config.tf_config) >= LIMIT_VARIABLE ||
	    strspn(config.num_workers, "0123456789") != strlen(config.num_workers))
		abort();
	return 0;
}
