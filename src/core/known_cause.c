#include "core/known_cause.h"

#include <string.h>

/* Each was seen with TensorFlow 2.21, and what is advised helped. */
static const struct known_cause {
	const char *words; /* in one of the last lines */
	const char *advice;
} known_causes[] = {
	{"distribute.values.PerReplica'>) to a Tensor",
	 "fit of Keras 3 does not know MultiWorkerMirroredStrategy, that of Keras 2 does: "
	 "pip install tf-keras, and muster run --env TF_USE_LEGACY_KERAS=1"},
	{"Could not start gRPC server",
	 "its port is taken; a script that sets TF_CONFIG itself makes every process the same one: "
	 "muster sets it"},
	{"Collective ops must be configured at program startup",
	 "the script has to make its strategy before anything else of TensorFlow runs"},
	{"Could not apply FILE based sharding",
	 "the data has fewer files than there are workers: set its "
	 "options().experimental_distribute.auto_shard_policy to DATA"},
	{"There must be at least one ps.",
	 "ParameterServerStrategy takes a chief and parameter servers: muster run --chief --ps 1"},
	{"No module named 'tensorflow'",
	 "this Python has no TensorFlow: activate the virtual environment that has it ('muster "
	 "doctor' looks for it)"},
};

const char *known_cause_advice(const struct failure *failure)
{
	for (size_t i = failure->n_last_lines; i-- > 0;)
		for (size_t k = 0; k < ARRAY_LEN(known_causes); k++)
			if (strstr(failure->last_lines[i], known_causes[k].words))
				return known_causes[k].advice;
	return NULL;
}
