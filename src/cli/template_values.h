/* The values for the parameters of a template: --param and --param-file. */
#pragma once

#include "base/mem.h"
#include "base/text.h"
#include "command/options.h"
#include "spec/template.h"

#include <stddef.h>

struct template_values {
	struct template_value *list; /* those of files first, so that those of the command line
					win */
	size_t count;
	size_t capacity;
	struct arena *arena; /* holds the texts */
};

/* Errors become lines of `faults`. */
void template_values_read(const struct options *options, struct template_values *values,
			  struct text *faults);
/* Rejects values on a command line that does not use them; WITH names the option that they need. */
void template_values_refuse(const struct options *options, const char *with, struct text *faults);
void template_values_done(struct template_values *values);

/* Their rows in a command's table. */
#define TEMPLATE_VALUE_ROWS                                                                        \
	OPTION("param", LIST, "NAME=VALUE", NULL, "set a parameter of the Template in -f",         \
	       .letter = 'p', .group = OPTIONS_OF_JOB, .hides_values = true),                      \
		OPTION("param-file", LIST, "FILE", NULL,                                           \
		       "set parameters from a file with lines NAME=VALUE",                         \
		       .group = OPTIONS_OF_JOB)
