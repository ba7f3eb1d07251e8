/* The type and value of a plain YAML scalar, by the rules of go-yaml v2 (resolve.go), which kubectl
 * uses. Private to base/yaml. */
#pragma once

#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct yaml_scalar {
	enum json_type type; /* never JSON_ARRAY or JSON_OBJECT */
	bool boolean;
	int64_t integer;
	double real; /* .inf and .nan too; whole numbers only if int64 cannot hold them */
};

/* Resolves text without quotes and without a tag. JSON_STRING: just text. */
struct yaml_scalar yaml_resolve(const char *text);

/* Appends the scalar as a key of a JSON object, as sigs.k8s.io/yaml does: 1, true, 1.5. `text` is
 * the original text. */
void yaml_add_key(struct text *key, struct yaml_scalar scalar, const char *text);
