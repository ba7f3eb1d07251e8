/* What clients of ElasticDL's launcher ask for. */
#include "unit_json.h"

#include "base/mem.h"
#include "base/text.h"
#include "spec/elasticdl.h"
#include "spec/job.h"
#include "spec/limits.h"

#define MOST 8

/* "strategy=AllReduce n_worker=4": as the query has it, but between blanks. */
struct query {
	char *words;
	struct elasticdl_parameter list[MOST];
	size_t count;
};

static void query_done(struct query *query)
{
	mem_free_text(&query->words);
}

static struct query query_of(const char *text)
{
	struct query query = {.words = mem_copy_text(text)};

	for (char *word = strtok(query.words, " "); word; word = strtok(NULL, " ")) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		query.list[query.count++] = (struct elasticdl_parameter){word, value};
	}
	return query;
}

static void assert_refused(const char *text, const char *sentence)
{
	struct query query CLEANUP(query_done) = query_of(text);
	struct elasticdl_request request;
	struct err err = {0};

	assert_true(elasticdl_read(query.list, query.count, &request, &err) < 0);
	assert_string_equal(err.text, sentence);
}

#define LONGEST_IMAGE 512
#define ALL_REDUCE "strategy=AllReduce n_worker=4 img=train "

TEST(each_fault_has_a_sentence)
{
	assert_refused("", "strategy: missing (expected AllReduce or ParameterServer)");
	assert_refused("strategy=Mirrored",
		       "strategy: unknown strategy (expected AllReduce or ParameterServer)");
	assert_refused("strategy=AllReduce", "n_worker: missing (expected a number)");
	assert_refused("strategy=AllReduce n_worker=0",
		       "n_worker: '0' is not a whole number from 1 to 10000");
	assert_refused("strategy=AllReduce n_worker=-1",
		       "n_worker: '-1' is not a whole number from 1 to 10000");
	assert_refused("strategy=AllReduce n_worker=1e9",
		       "n_worker: '1e9' is not a whole number from 1 to 10000");
	assert_refused("strategy=ParameterServer n_worker=1 img=a",
		       "n_ps: missing (expected a number)");
	assert_refused("strategy=ParameterServer n_worker=1 n_ps=0 img=a",
		       "n_ps: '0' is not a whole number from 1 to 10000");
	assert_refused("strategy=ParameterServer n_worker=9999 n_ps=2 img=a",
		       "n_ps: at most 10000 replicas in all");
	assert_refused(ALL_REDUCE "n_ps=1", "n_ps: must be 0 for AllReduce");
	assert_refused("strategy=AllReduce n_worker=1",
		       "img: missing (expected the name of an image)");
	assert_refused("strategy=AllReduce n_worker=1 img=",
		       "img: missing (expected the name of an "
		       "image)");
	assert_refused("strategy=AllReduce n_worker=1 img=a;b", "img: not the name of an image");
	assert_refused(ALL_REDUCE "n_worker=4", "n_worker: is there twice");
	assert_refused(
		ALL_REDUCE "workers=4",
		"workers: unknown parameter (expected strategy, n_worker, n_ps, img and name)");
	assert_refused(ALL_REDUCE "server=other", "server: unknown server (expected muster)");
	assert_refused(ALL_REDUCE "name=Test",
		       "name: not a name (expected lower case letters, digits and '-', a letter "
		       "first, at most 50 characters)");
	assert_refused(ALL_REDUCE "name=a23456789012345678901234567890123456789012345678901",
		       "name: not a name (expected lower case letters, digits and '-', a letter "
		       "first, at most 50 characters)");
}

static void assert_taken(const char *text)
{
	struct query query CLEANUP(query_done) = query_of(text);
	struct elasticdl_request request;
	struct err err = {0};

	assert_int_equal(elasticdl_read(query.list, query.count, &request, &err), 0);
}

TEST(limits_are_taken_and_what_is_over_them_is_not)
{
	char image[LONGEST_IMAGE + 2], *text;

	assert_taken(ALL_REDUCE "name=a2345678901234567890123456789012345678901234567890");
	assert_taken("strategy=AllReduce n_worker=10000 img=a");
	assert_taken("strategy=ParameterServer n_worker=9999 n_ps=1 img=a");
	memset(image, 'a', sizeof(image));
	image[LONGEST_IMAGE] = '\0';
	text = mem_format("strategy=AllReduce n_worker=1 img=%s", image);
	assert_taken(text);
	free(text);
	image[LONGEST_IMAGE] = 'a';
	image[LONGEST_IMAGE + 1] = '\0';
	text = mem_format("strategy=AllReduce n_worker=1 img=%s", image);
	assert_refused(text, "img: not the name of an image");
	free(text);
}

static struct job *job_of(const char *text, const char *template)
{
	struct query query CLEANUP(query_done) = query_of(text);
	struct json *under CLEANUP(json_cleanup) = NULL;
	struct elasticdl_request request = {0};
	struct err err = {0};
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job = NULL;

	assert_int_equal(elasticdl_read(query.list, query.count, &request, &err), 0);
	if (template)
		assert_int_equal(json_read(template, strlen(template), &under, &err), 0);
	const struct elasticdl_manner manner = {
		.program_image = "registry.example/muster:1",
		.program_path = "/bin/muster",
		.secret_name = "test.pod-server-0a",
		.template = under,
	};
	struct json *document CLEANUP(json_cleanup) = elasticdl_document_new(&request, &manner);

	assert_int_equal(job_read(document, NULL, JOB_STRICT, &faults, &job), 0);
	return job;
}

TEST(an_image_of_the_old_client_starts_its_own_server)
{
	struct job *job CLEANUP(job_cleanup) = job_of(ALL_REDUCE "n_ps=0 name=test", NULL);

	assert_string_equal(job->name, "test");
	assert_int_equal(job->pod_server_port, 7896);
	assert_int_equal(job->n_roles, 1);
	assert_int_equal(job->roles[0].replicas, 4);
	assert_int_equal(job->roles[0].port, 1234);
	assert_json(job->roles[0].template,
		    "{\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":\"train\","
		    "\"imagePullPolicy\":\"IfNotPresent\",\"ports\":[{\"name\":\"tfjob-port\","
		    "\"containerPort\":1234},"
		    "{\"name\":\"pod-server\",\"containerPort\":7896}],"
		    "\"securityContext\":{\"allowPrivilegeEscalation\":false}}],"
		    "\"securityContext\":{\"seccompProfile\":{\"type\":\"RuntimeDefault\"}},"
		    "\"automountServiceAccountToken\":false},"
		    "\"metadata\":{\"labels\":{\"type\":\"worker\",\"app\":\"test-0\"}}}");
}

TEST(other_images_are_brought_one)
{
	struct job *job CLEANUP(job_cleanup) =
		job_of("strategy=ParameterServer n_worker=2 n_ps=1 img=train server=muster",
		       "{\"spec\": {\"nodeSelector\": {\"gpu\": \"yes\"}, \"containers\": "
		       "[{\"name\": \"main\", \"args\": [\"old\"], \"resources\": {}}]}}");
	const struct role *ps = job_role_of_kind(job, ROLE_PS);

	assert_string_equal(job->name, "default");
	assert_int_equal(job->n_roles, 2);
	assert_int_equal(ps->replicas, 1);
	assert_json(json_get_path(ps->template, "metadata", "labels", NULL),
		    "{\"type\":\"ps\",\"app\":\"default-0\"}");
	assert_json(json_get_path(ps->template, "spec", "nodeSelector", NULL), "{\"gpu\":\"yes\"}");
	assert_json(
		json_get_path(ps->template, "spec", "initContainers", NULL),
		"[{\"name\":\"muster-program\",\"image\":\"registry.example/muster:1\",\"command\":"
		"[\"/bin/muster\",\"pod-server\",\"--install\",\"/muster-program\"],"
		"\"volumeMounts\":[{\"name\":\"muster-program\",\"mountPath\":"
		"\"/muster-program\"}],"
		"\"securityContext\":{\"allowPrivilegeEscalation\":false}}]");
	const struct json *container =
		json_at(json_get_path(ps->template, "spec", "containers", NULL), 0);

	assert_null(json_get(container, "args"));
	assert_json(json_get(container, "command"), "[\"/muster-program/muster\",\"pod-server\"]");
	assert_json(json_get(container, "env"),
		    "[{\"name\":\"MUSTER_POD_SECRET\",\"valueFrom\":{\"secretKeyRef\":"
		    "{\"name\":\"test.pod-server-0a\",\"key\":\"secret\"}}}]");
}

/* The administrator's template decides; what it omits is confined. */
TEST(what_the_template_of_the_master_says_about_rights_stays)
{
	struct job *job CLEANUP(job_cleanup) =
		job_of(ALL_REDUCE "server=muster",
		       "{\"spec\": {\"serviceAccountName\": \"trainer\", \"securityContext\": "
		       "{\"runAsUser\": 1000}, \"containers\": [{\"name\": \"main\", "
		       "\"securityContext\": {\"privileged\": true}}, {\"name\": \"other\", "
		       "\"image\": \"b\"}]}}");
	const struct json *spec = json_get(job->roles[0].template, "spec");
	const struct json *containers = json_get(spec, "containers");

	assert_null(json_get(spec, "automountServiceAccountToken"));
	assert_json(json_get(spec, "securityContext"),
		    "{\"runAsUser\":1000,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}");
	assert_json(json_get(json_at(containers, 0), "securityContext"), "{\"privileged\":true}");
	assert_json(json_get(json_at(containers, 1), "securityContext"),
		    "{\"allowPrivilegeEscalation\":false}");
}

static void assert_config_refused(const char *body, const char *sentence)
{
	struct pod_config config = {0};
	struct err err = {0};

	assert_true(pod_config_read(body, strlen(body), &config, &err) < 0);
	assert_string_equal(err.text, sentence);
	assert_null(config.tf_config);
}

static struct pod_config read_config(const char *body)
{
	struct pod_config config = {0};
	struct err err = {0};

	assert_int_equal(pod_config_read(body, strlen(body), &config, &err), 0);
	return config;
}

TEST(a_config_becomes_two_variables)
{
	struct pod_config config CLEANUP(pod_config_done) =
		read_config("{\"MASTER\": \"10.0.0.1:7897\", \"SET_ID\": 3, \"NUM_WORKERS\": 4,\n"
			    "\"TF_CONFIG\": {\"cluster\": {\"worker\": [\"10.0.0.2:1234\"]},\n"
			    "\"task\": {\"type\": \"worker\", \"index\": 0}}, \"MORE\": null}");

	assert_string_equal(config.master, "10.0.0.1:7897");
	assert_string_equal(config.set_id, "3");
	assert_string_equal(config.num_workers, "4");
	assert_string_equal(config.tf_config, "{\"cluster\":{\"worker\":[\"10.0.0.2:1234\"]},"
					      "\"task\":{\"type\":\"worker\",\"index\":0}}");
}

TEST(texts_of_values_are_values)
{
	struct pod_config config CLEANUP(pod_config_done) =
		read_config("{\"NUM_WORKERS\": \"2\", \"TF_CONFIG\": \"{\\\"a\\\": 1}\"}");

	assert_null(config.master);
	assert_null(config.set_id);
	assert_string_equal(config.num_workers, "2");
	assert_string_equal(config.tf_config, "{\"a\":1}");
}

TEST(each_fault_of_a_config_has_a_sentence)
{
	static const char workers[] = "NUM_WORKERS: expected a whole number from 0 to 10000";
	static const char tf_config[] = "TF_CONFIG: expected an object";

	assert_config_refused("[]", "expected an object with NUM_WORKERS and TF_CONFIG");
	assert_config_refused("{\"TF_CONFIG\": {}}", workers);
	assert_config_refused("{\"NUM_WORKERS\": -1, \"TF_CONFIG\": {}}", workers);
	assert_config_refused("{\"NUM_WORKERS\": 10001, \"TF_CONFIG\": {}}", workers);
	assert_config_refused("{\"NUM_WORKERS\": \"4x\", \"TF_CONFIG\": {}}", workers);
	assert_config_refused("{\"NUM_WORKERS\": 1.5, \"TF_CONFIG\": {}}", workers);
	assert_config_refused("{\"NUM_WORKERS\": 1}", tf_config);
	assert_config_refused("{\"NUM_WORKERS\": 1, \"TF_CONFIG\": []}", tf_config);
	assert_config_refused("{\"NUM_WORKERS\": 1, \"TF_CONFIG\": \"{\"}", tf_config);
}

/* {"NUM_WORKERS": 1, "TF_CONFIG": {"a": "xxx…"}}, of which the variable has so many bytes. */
static char *body_of(size_t variable)
{
	struct text text CLEANUP(text_done) = {0};

	text_add(&text, "{\"NUM_WORKERS\": 1, \"TF_CONFIG\": {\"a\": \"");
	for (size_t i = strlen("TF_CONFIG={\"a\":\"\"}"); i < variable; i++)
		text_add_char(&text, 'x');
	text_add(&text, "\"}}");
	return mem_copy_text(text_of(&text));
}

TEST(a_config_is_as_long_as_a_variable_at_most)
{
	char *most CLEANUP(mem_free_text) = body_of(LIMIT_VARIABLE - 1);
	char *more CLEANUP(mem_free_text) = body_of(LIMIT_VARIABLE);
	struct pod_config config CLEANUP(pod_config_done) = read_config(most);

	assert_int_equal(strlen(config.tf_config) + strlen("TF_CONFIG=") + 1, LIMIT_VARIABLE);
	assert_config_refused(more, "TF_CONFIG: must be shorter than 128 KiB, as any variable");
}
