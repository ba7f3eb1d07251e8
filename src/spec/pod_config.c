#include "spec/pod_config.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "spec/limits.h"

#include <inttypes.h>
#include <string.h>

void pod_config_done(struct pod_config *config)
{
	mem_free_text(&config->master);
	mem_free_text(&config->set_id);
	mem_free_text(&config->num_workers);
	mem_free_text(&config->tf_config);
}

/* A text, or a number as written; NULL for anything else. Caller frees. */
static char *config_word_of(const struct json *value)
{
	if (json_is(value, JSON_INTEGER))
		return mem_format("%" PRId64, json_as_integer(value, 0));
	return json_is(value, JSON_STRING) ? mem_copy_text(json_as_string(value, "")) : NULL;
}

/* A value, or the JSON in a text: a client may send the text of its own variable. Caller frees;
 * NULL if there is none. */
static struct json *config_value_of(const struct json *body, const char *key)
{
	struct json *value = json_get(body, key);
	const char *text = json_as_string(value, NULL);
	struct json *read = NULL;

	if (!text)
		return value ? json_ref(value) : NULL;
	return json_read(text, strlen(text), &read, NULL) == 0 ? read : NULL;
}

static int read_num_workers(const struct json *body, struct pod_config *config, struct err *err)
{
	struct json *value CLEANUP(json_cleanup) = config_value_of(body, "NUM_WORKERS");
	int64_t count = json_as_integer(value, -1);

	if (count < 0 || count > LIMIT_REPLICAS)
		return err_set(err, ERR_INVALID,
			       "NUM_WORKERS: expected a whole number from 0 to %d", LIMIT_REPLICAS);
	config->num_workers = mem_format("%" PRId64, count);
	return 0;
}

static int read_tf_config(const struct json *body, struct pod_config *config, struct err *err)
{
	struct json *value CLEANUP(json_cleanup) = config_value_of(body, "TF_CONFIG");
	struct text text CLEANUP(text_done) = {0};

	if (!json_is(value, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "TF_CONFIG: expected an object");
	json_add_compact(&text, value);
	if (text.len >= POD_CONFIG_VARIABLE_LIMIT - strlen("TF_CONFIG="))
		return err_set(err, ERR_LIMIT,
			       "TF_CONFIG: must be shorter than 128 KiB, as any variable");
	config->tf_config = mem_copy_text(text_of(&text));
	return 0;
}

int pod_config_read(const char *body, size_t len, struct pod_config *ret_config, struct err *err)
{
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct pod_config config = {0};
	int rc = json_read(body, len, &object, err);

	if (rc < 0)
		err_prefix(err, "body");
	else if (!json_is(object, JSON_OBJECT))
		rc = err_set(err, ERR_INVALID, "expected an object with NUM_WORKERS and TF_CONFIG");
	if (rc == 0)
		rc = read_num_workers(object, &config, err);
	if (rc == 0)
		rc = read_tf_config(object, &config, err);
	if (rc < 0) {
		pod_config_done(&config);
		return rc;
	}
	config.master = config_word_of(json_get(object, "MASTER"));
	config.set_id = config_word_of(json_get(object, "SET_ID"));
	*ret_config = config;
	return 0;
}
