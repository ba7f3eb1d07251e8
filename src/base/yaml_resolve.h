/* What a plain YAML scalar stands for, by the rules of go-yaml v2 (resolve.go), which kubectl reads
 * its files by. Private to base/yaml. */
#pragma once

#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct yaml_scalar {
	enum json_type type; /* never JSON_ARRAY or JSON_OBJECT */
	bool boolean;
	int64_t integer;
	double real; /* .inf and .nan too; whole numbers only where int64 cannot hold them */
};

/* Resolves text that is written without quotes and without a tag. JSON_STRING: it is just text. */
struct yaml_scalar yaml_resolve(const char *text);

/* Adds the scalar as a key of a JSON object, as sigs.k8s.io/yaml does: 1, true, 1.5. `text`
 * is what was written. */
void yaml_add_key(struct text *key, struct yaml_scalar scalar, const char *text);
