#include "spec/job_words.h"

#include "base/mem.h"

char *job_words_new(const char *namespace_name, const char *name, const char *choice)
{
	if (!choice)
		choice = "";
	return namespace_name ? mem_format("kubernetes/%s/%s%s", namespace_name, name, choice)
			      : mem_format("%s%s", name, choice);
}
