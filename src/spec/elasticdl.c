#include "spec/elasticdl.h"

#include "base/names.h"
#include "spec/job_build.h"
#include "spec/limits.h"
#include "spec/pod_security.h"
#include "spec/pod_template.h"

#include <inttypes.h>

#define PROGRAM_VOLUME "muster-program"
#define PROGRAM_FOLDER "/muster-program"
#define DEFAULT_TASK "default" /* of the old client */
#define LONGEST_IMAGE 512
/* Pods are TASK-worker-INDEX, and a host's name has 63 characters. */
#define LONGEST_TASK (DNS_LABEL_MAX - (sizeof("-worker-10000") - 1))

const char *const elasticdl_strategy_words[ELASTICDL_STRATEGY_COUNT] = {
	"AllReduce",
	"ParameterServer",
};

/* Reading. */

enum word { WORD_STRATEGY, WORD_WORKERS, WORD_PS, WORD_IMAGE, WORD_TASK, WORD_SERVER, WORD_COUNT };
static const char *const words[WORD_COUNT] = {
	"strategy", "n_worker", "n_ps", "img", "name", "server",
};

static int sort(const struct elasticdl_parameter *parameters, size_t count,
		const char *values[WORD_COUNT], struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		int found = name_find_word(words, WORD_COUNT, parameters[i].name);

		if (found < 0)
			return err_set(err, ERR_INVALID,
				       "%s: unknown parameter (expected strategy, n_worker, n_ps, "
				       "img and name)",
				       parameters[i].name);
		if (values[found])
			return err_set(err, ERR_INVALID, "%s: is there twice", words[found]);
		values[found] = parameters[i].value;
	}
	return 0;
}

static int read_strategy(const char *text, struct elasticdl_request *request, struct err *err)
{
	int found = text ? name_find_word(elasticdl_strategy_words, ELASTICDL_STRATEGY_COUNT, text)
			 : -1;

	if (found < 0)
		return err_set(err, ERR_INVALID, "strategy: %s (expected %s or %s)",
			       text ? "unknown strategy" : "missing", elasticdl_strategy_words[0],
			       elasticdl_strategy_words[1]);
	request->strategy = (enum elasticdl_strategy) found;
	return 0;
}

static int read_count(enum word word, const char *text, int least, int *ret_count, struct err *err)
{
	int64_t count;

	if (!text)
		return err_set(err, ERR_INVALID, "%s: missing (expected a number)", words[word]);
	if (text_read_int(text, least, LIMIT_REPLICAS, &count, err) < 0)
		return err_prefix(err, "%s", words[word]);
	*ret_count = (int) count;
	return 0;
}

/* AllReduce has none, and the old client sends 0. */
static int read_ps(const char *text, struct elasticdl_request *request, struct err *err)
{
	bool are_used = request->strategy == ELASTICDL_PARAMETER_SERVER;

	if (!text && !are_used)
		return 0;
	if (read_count(WORD_PS, text, are_used, &request->ps, err) < 0)
		return err->code;
	if (request->ps > 0 && !are_used)
		return err_set(err, ERR_INVALID, "n_ps: must be 0 for AllReduce");
	if (request->ps + request->workers > LIMIT_REPLICAS)
		return err_set(err, ERR_LIMIT, "n_ps: at most %d replicas in all", LIMIT_REPLICAS);
	return 0;
}

/* The characters of an image reference (distribution/reference); the kubelet checks its form. */
static int read_image(const char *text, struct elasticdl_request *request, struct err *err)
{
	if (!text || !*text)
		return err_set(err, ERR_INVALID, "img: missing (expected the name of an image)");
	if (text[strspn(text, NAME_LETTERS NAME_DIGITS "._-/:@")] || strlen(text) > LONGEST_IMAGE)
		return err_set(err, ERR_INVALID, "img: not the name of an image");
	request->image = text;
	return 0;
}

static int read_task(const char *text, struct elasticdl_request *request, struct err *err)
{
	request->task = text ? text : DEFAULT_TASK;
	if (name_is_dns1035_label(request->task) && strlen(request->task) <= LONGEST_TASK)
		return 0;
	return err_set(err, ERR_INVALID,
		       "name: not a name (expected lower case letters, digits and '-', a letter "
		       "first, at most %zu characters)",
		       LONGEST_TASK);
}

int elasticdl_read(const struct elasticdl_parameter *parameters, size_t count,
		   struct elasticdl_request *ret_request, struct err *err)
{
	const char *values[WORD_COUNT] = {NULL};
	struct elasticdl_request request = {0};

	if (sort(parameters, count, values, err) < 0 ||
	    read_strategy(values[WORD_STRATEGY], &request, err) < 0 ||
	    read_count(WORD_WORKERS, values[WORD_WORKERS], 1, &request.workers, err) < 0 ||
	    read_ps(values[WORD_PS], &request, err) < 0 ||
	    read_image(values[WORD_IMAGE], &request, err) < 0 ||
	    read_task(values[WORD_TASK], &request, err) < 0)
		return err->code;
	request.needs_server = values[WORD_SERVER] != NULL;
	if (request.needs_server && !text_equals(values[WORD_SERVER], "muster"))
		return err_set(err, ERR_INVALID, "server: unknown server (expected muster)");
	*ret_request = request;
	return 0;
}

/* The TFJob. */

/* An image without a registry, as of `docker build -t train .`, is on the nodes or nowhere: a
 * kubelet would try to pull it because it has no tag. */
static void set_image(struct json *container, const char *image)
{
	json_set_string(container, "image", image);
	if (!strchr(image, '/'))
		json_set_string(container, "imagePullPolicy", "IfNotPresent");
}

/* An init container copies the program into a volume of the training container. */
static void add_server_init_container(struct json *spec, struct json *container,
				      const struct elasticdl_manner *manner)
{
	const char *const command[] = {manner->program_path, "pod-server", "--install",
				       PROGRAM_FOLDER};
	struct json *bringer;

	(void) json_object_at(pod_template_add(spec, "volumes", PROGRAM_VOLUME), "emptyDir");
	bringer = pod_template_add(spec, "initContainers", PROGRAM_VOLUME);
	set_image(bringer, manner->program_image);
	for (size_t i = 0; i < ARRAY_LEN(command); i++)
		json_append(json_array_at(bringer, "command"), json_new_string(command[i]));
	pod_template_add_mount(bringer, PROGRAM_VOLUME, PROGRAM_FOLDER, false);
	pod_template_add_mount(container, PROGRAM_VOLUME, PROGRAM_FOLDER, false);
	pod_template_add_secret(container, POD_SECRET_VARIABLE, manner->secret_name,
				ELASTICDL_SECRET_KEY);
}

/* The client chooses the image, so the Pod gets nothing that the master's own template does not
 * give. Its user stays the image's: old images write into their own files. */
static struct json *template_new(const struct json *built, const char *type,
				 const struct elasticdl_request *request,
				 const struct elasticdl_manner *manner)
{
	struct json *template CLEANUP(json_cleanup) = json_new_copy(built);
	struct json *labels = json_object_at(json_object_at(template, "metadata"), "labels");
	struct json *container = pod_template_container(template);
	char *app CLEANUP(mem_free_text) = mem_format("%s-0", request->task);

	json_set_string(labels, "type", type);
	json_set_string(labels, "app", app);
	set_image(container, request->image);
	json_set_integer(pod_template_add(container, "ports", "tfjob-port"), "containerPort",
			 ELASTICDL_TENSORFLOW_PORT);
	json_set_integer(pod_template_add(container, "ports", "pod-server"), "containerPort",
			 ELASTICDL_POD_SERVER_PORT);
	if (request->needs_server)
		add_server_init_container(json_get(template, "spec"), container, manner);
	else
		json_remove(container, "command");

	struct json *whole = manner->template ? pod_template_laid_over(manner->template, template)
					      : json_ref(template);

	pod_confine(json_get(whole, "spec"), false);
	return whole;
}

struct json *elasticdl_document_new(const struct elasticdl_request *request,
				    const struct elasticdl_manner *manner)
{
	static const char *const command[] = {PROGRAM_FOLDER "/muster", "pod-server", NULL};
	const struct job_build build = {
		.name = request->task,
		.workers = request->workers,
		.ps = request->ps,
		.command = command,
		.grace = -1,
		.timeout = -1,
	};
	struct json *document = job_document_new(&build);
	struct json *annotations =
		json_object_at(json_object_at(document, "metadata"), "annotations");
	struct json *roles = json_get_path(document, "spec", "tfReplicaSpecs", NULL);
	char *port CLEANUP(mem_free_text) = mem_format("%d", ELASTICDL_POD_SERVER_PORT);
	const char *title = NULL;
	struct json *role;

	json_set_string(annotations, JOB_ANNOTATION_POD_SERVER, port);
	while (json_next(roles, &title, &role))
		json_set(role, "template",
			 template_new(json_get(role, "template"),
				      text_equals(title, "PS") ? "ps" : "worker", request, manner));
	return document;
}

const char *elasticdl_secret_of(const struct job *job)
{
	const struct json *env = json_get(pod_template_container(job->roles[0].template), "env");
	const struct json *entry = pod_template_find(env, "name", POD_SECRET_VARIABLE);

	return json_as_string(json_get_path(entry, "valueFrom", "secretKeyRef", "name", NULL),
			      NULL);
}

/* The configuration of a Pod. */

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

/* A value, or the JSON in a text (of a client's own variable). Caller frees; NULL: none. */
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
	if (text.len >= LIMIT_VARIABLE - strlen("TF_CONFIG="))
		return err_set(err, ERR_LIMIT,
			       "TF_CONFIG: must be shorter than 128 KiB, as any variable");
	config->tf_config = mem_copy_text(text_of(&text));
	return 0;
}

int pod_config_read(const char *body, size_t len, struct pod_config *ret_config, struct err *err)
{
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct pod_config config CLEANUP(pod_config_done) = {0};
	int rc = json_read(body, len, &object, err);

	if (rc < 0)
		err_prefix(err, "body");
	else if (!json_is(object, JSON_OBJECT))
		rc = err_set(err, ERR_INVALID, "expected an object with NUM_WORKERS and TF_CONFIG");
	if (rc == 0)
		rc = read_num_workers(object, &config, err);
	if (rc == 0)
		rc = read_tf_config(object, &config, err);
	if (rc < 0)
		return rc;
	config.master = config_word_of(json_get(object, "MASTER"));
	config.set_id = config_word_of(json_get(object, "SET_ID"));
	*ret_config = config;
	config = (struct pod_config){0};
	return 0;
}
