#include "cli/cluster_support.h"

#include "base/json.h"
#include "base/line_text.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "cli/kube_cluster.h"
#include "command/command.h"
#include "command/output.h"
#include "io/file.h"
#include "io/log.h"
#include "io/loop.h"
#include "operator/operator.h"
#include "operator/setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMESPACE_VARIABLE "KUBEFLOW_NAMESPACE"
#define KIND "tfjob"
#define ENCODERS_LEVEL "zap-log-level"

static const char *const kinds[] = {KIND,     "pytorchjob", "xgboostjob",
				    "mpijob", "paddlejob",  "jaxjob"};

static bool serves_tfjobs(const char *const *schemes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcasecmp(schemes[i], KIND))
			return true;
	return count == 0;
}

/* ERR_INVALID if kinds other than TFJob are enabled, or a kind is unknown. */
static int operator_flags_check(const struct options *options, struct err *err)
{
	size_t count;
	const char *const *schemes = option_list(options, "enable-scheme", &count);

	for (size_t i = 0; i < count; i++)
		if (name_find_word_ignoring_case(kinds, ARRAY_LEN(kinds), schemes[i]) < 0)
			return err_set(err, ERR_INVALID,
				       "--enable-scheme: scheme %s is not supported yet",
				       schemes[i]);
	if (serves_tfjobs(schemes, count))
		return 0;
	return err_set(
		err, ERR_INVALID,
		"--enable-scheme=%s: muster manages only TFJob objects; let training-operator "
		"manage the other kinds, with --enable-scheme for each of them",
		schemes[0]);
}

/* The flags that cmd_operator.c lists without a sentence, except these, which have an effect. */
static bool is_meaningless(const struct option_row *row)
{
	static const char *const meant[] = {"enable-scheme", ENCODERS_LEVEL, "zap-encoder"};

	return !row->one_line && name_find_word(meant, ARRAY_LEN(meant), row->name) < 0;
}

static void add_flag(struct text *text, const char *flag)
{
	text_addf(text, "%s--%s", text->len ? ", " : "", flag);
}

/* Adds the given flags that have no effect: "--kube-api-qps, --zap-devel". */
static void operator_flags_add_meaningless(struct text *text, const struct options *options)
{
	const struct option_row *row;
	size_t count;
	const char *const *schemes = option_list(options, "enable-scheme", &count);

	for (size_t i = 0; i < count; i++)
		if (strcasecmp(schemes[i], KIND) != 0) {
			char *flag CLEANUP(mem_free_text) =
				mem_format("enable-scheme=%s", schemes[i]);

			add_flag(text, flag);
		}
	for (size_t i = 0; (row = options_row(options_command(options), i)); i++)
		if (is_meaningless(row) && option_is_given(options, row->name))
			add_flag(text, row->name);
}

/* Namespaces. */

struct name_list {
	char **names;
	size_t count, capacity;
};

static void add_namespace_once(struct name_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (text_equals(list->names[i], name))
			return;
	mem_grow(&list->names, &list->capacity, list->count + 1, sizeof(*list->names));
	list->names[list->count++] = mem_copy_text(name);
	list->names[list->count] = NULL;
}

static int add_names(struct name_list *list, const char *from, const char *names, struct err *err)
{
	char *copy CLEANUP(mem_free_text) = mem_copy_text(names);
	char *rest = copy;

	for (char *name; (name = strsep(&rest, ","));) {
		if (!*name)
			continue;
		if (!name_is_dns_label(name))
			return err_set(err, ERR_INVALID, "%s: '%s' is not a valid namespace name",
				       from, name);
		add_namespace_once(list, name);
	}
	return 0;
}

/* NULL is fine */
static void operator_namespaces_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* The namespaces of --namespace, or else of KUBEFLOW_NAMESPACE, each once; the list ends with NULL
 * and is empty for all namespaces. Caller frees it with operator_namespaces_free. ERR_INVALID for
 * an invalid name. */
static int operator_namespaces(const struct options *options, char ***ret_list, struct err *err)
{
	struct name_list list = {.names = mem_new_array(1, sizeof(*list.names)), .capacity = 1};
	const char *variable = getenv(NAMESPACE_VARIABLE);
	size_t count;
	const char *const *given = option_list(options, "namespace", &count);
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_names(&list, "--namespace", given[i], err);
	if (count == 0 && variable)
		rc = add_names(&list, NAMESPACE_VARIABLE, variable, err);
	if (rc < 0)
		operator_namespaces_free(list.names);
	else
		*ret_list = list.names;
	return rc;
}

/* Numbers are zap's: 1 and more log ever more. */
static enum log_level operator_log_level(const struct options *options)
{
	const char *zap = option_text(options, ENCODERS_LEVEL);
	int64_t number = 0;
	bool is_number = zap && text_read_int(zap, 0, INT64_MAX, &number, NULL) == 0;

	if (log_is_on(LOG_DEBUG) || text_equals(zap, "debug") || (is_number && number > 0))
		return LOG_DEBUG;
	if (log_is_on(LOG_INFO) || text_equals(zap, "info"))
		return LOG_INFO;
	return LOG_WARNING;
}

/* Sentences about a job begin with its name, which becomes a member of the object. */

#define JOB_BEGINS "job '"
#define JOB_ENDS "': "
#define IN_ANY_CASE "info" /* the level of what is logged at any level */

static bool is_json(const struct options *options)
{
	return text_equals(option_text(options, "log-format"), "json") ||
	       text_equals(option_text(options, "zap-encoder"), "json");
}

static void set_sentence(struct json *line, const char *sentence)
{
	const char *name = strncmp(sentence, JOB_BEGINS, strlen(JOB_BEGINS)) == 0
				   ? sentence + strlen(JOB_BEGINS)
				   : NULL;
	const char *end = name ? strstr(name, JOB_ENDS) : NULL;
	struct text clean CLEANUP(text_done) = {0};

	if (end) {
		char *job CLEANUP(mem_free_text) = mem_copy_bytes(name, (size_t) (end - name));

		json_set_string(line, "job", job);
		sentence = end + strlen(JOB_ENDS);
	}
	line_text_add_sentence(&clean, sentence, strlen(sentence));
	json_set_string(line, "msg", text_of(&clean));
}

static void write_object(const char *level, const char *sentence)
{
	struct json *line CLEANUP(json_cleanup) = json_new_object();
	struct text text CLEANUP(text_done) = {0}, now CLEANUP(text_done) = {0};

	text_add_line_time(&now, loop_now(), 0);
	json_set_string(line, "ts", text_of(&now));
	json_set_string(line, "level", level);
	set_sentence(line, sentence);
	json_add_compact(&text, line);
	text_add_char(&text, '\n');
	file_write_all(STDERR_FILENO, text.bytes, text.len, NULL);
}

static void on_logged(enum log_level level, const char *sentence, void *data)
{
	(void) data;
	write_object(log_level_words[level], sentence);
}

/* From here on the log has the format and the level that the options select. */
static void operator_log_begin(const struct options *options)
{
	log_set_level(operator_log_level(options));
	if (is_json(options))
		log_set_sink(on_logged, NULL);
}

/* Writes a sentence at any level; `data` is the struct options. */
static void operator_log_write(const char *sentence, void *data)
{
	if (is_json(data))
		write_object(IN_ANY_CASE, sentence);
	else
		output_print_message("%s", sentence);
}

static const struct setup {
	const char *word;
	int (*run)(const struct operator_setup_settings *settings, struct err *err);
} setups[] = {
	{"install", operator_install},
	{"uninstall", operator_uninstall},
	{"upgrade-from-training-operator", operator_upgrade},
};

/* NULL: the command serves, or the word is unknown. */
static const struct setup *find_setup(const struct options *options)
{
	size_t count;
	const char *const *arguments = options_arguments(options, &count);

	for (size_t i = 0; count && i < ARRAY_LEN(setups); i++)
		if (text_equals(setups[i].word, arguments[0]))
			return &setups[i];
	return NULL;
}

/* Options of setup commands have their own group; --namespace belongs to both. */
static int check_row(const struct option_row *row, bool is_setup, struct err *err)
{
	bool is_of_setup = row->group == OPTIONS_OF_SETUP;
	bool is_of_serving =
		row->group == OPTIONS_OF_COMMAND && !text_equals(row->name, "namespace");

	if (is_setup && is_of_serving)
		return err_set(err, ERR_INVALID,
			       "--%s: is an option of the operator itself; set it in the arguments "
			       "of its Deployment",
			       row->name);
	if (!is_setup && is_of_setup)
		return err_set(
			err, ERR_INVALID,
			"--%s: needs 'install', 'uninstall' or 'upgrade-from-training-operator'",
			row->name);
	return 0;
}

/* Whether the command line is one of them; ERR_INVALID for an option that does not belong to it. */
static int operator_setup_check(const struct options *options, bool *ret_is_setup, struct err *err)
{
	size_t count;
	const char *const *arguments = options_arguments(options, &count);
	bool is_setup = find_setup(options);
	const struct option_row *row;
	int rc = 0;

	if (count && !is_setup)
		return err_set(err, ERR_INVALID,
			       "'%s': unknown (expected install, uninstall or "
			       "upgrade-from-training-operator)",
			       arguments[0]);
	for (size_t i = 0; (row = options_row(options_command(options), i)) && rc == 0; i++)
		if (option_is_given(options, row->name))
			rc = check_row(row, is_setup, err);
	*ret_is_setup = is_setup;
	return rc;
}

static void print_setup_sentence(const char *sentence, void *data)
{
	struct text line CLEANUP(text_done) = {0};

	(void) data;
	text_addf(&line, "%s\n", sentence);
	output_add(&line);
	output_flush();
}

/* The login and the namespaces are those of `settings`. */
static int operator_setup_call(const struct options *options,
			       const struct operator_settings *settings, struct err *err)
{
	const struct setup *setup = find_setup(options);
	size_t n_skipped;
	const char *const *skipped = option_list(options, "skip-namespace", &n_skipped);
	const struct operator_setup_settings chosen = {
		.log_in = settings->log_in,
		.log_in_data = settings->log_in_data,
		.choice = {.image = option_text(options, "image"),
			   .namespaces = settings->namespaces},
		.is_dry_run = option_flag(options, "dry-run"),
		.is_waiting = option_flag(options, "wait"),
		.takes_definition = option_flag(options, "with-crd"),
		.is_forced = option_flag(options, "force"),
		.skipped_namespaces = skipped,
		.n_skipped_namespaces = n_skipped,
		.tell = print_setup_sentence,
		.warn = settings->say,
		.data = settings->data,
	};

	return setup->run(&chosen, err);
}

#define DOMAIN_VARIABLE "CUSTOM_CLUSTER_DOMAIN"

/* With the login's own namespace, whatever namespaces are managed: the Lease is there. */
static int log_in(struct loop *loop, struct kube_login **ret_login, struct err *err, void *data)
{
	struct options *own CLEANUP(options_cleanup) = options_copy(data);

	options_set_text(own, "namespace", "");
	int rc = kube_cluster_log_in(loop, ret_login, err, own);

	if (rc < 0)
		return rc;
	(*ret_login)->on_warning = operator_log_write;
	(*ret_login)->on_warning_data = data;
	return 0;
}

static void log_metrics_address(const struct options *options, const struct listening *listening)
{
	char *sentence CLEANUP(mem_free_text) =
		mem_format("/metrics, /healthz and /readyz: %s%s", listening->path ? "" : "http://",
			   listening->address);

	operator_log_write(sentence, (void *) options);
}

/* Addresses as in training-operator: "0" is none, and ":8080" is on all addresses. */
static int open_address(const struct options *options, const char *option,
			struct listening *ret_listening, struct err *err)
{
	const char *address = option_text(options, option);

	if (!address || text_equals(address, "0"))
		return 0;
	char *all CLEANUP(mem_free_text) =
		*address == ':' ? mem_format("0.0.0.0%s", address) : mem_copy_text(address);

	if (listening_open(all, ret_listening, err) == 0) {
		log_metrics_address(options, ret_listening);
		return 0;
	}
	err_prefix(err, "--%s", option);
	return err->code = ERR_INVALID;
}

static void log_ignored_flags(const struct options *options)
{
	struct text flags CLEANUP(text_done) = {0};

	operator_flags_add_meaningless(&flags, options);
	if (flags.len == 0)
		return;
	char *sentence CLEANUP(mem_free_text) =
		mem_format("ignored (no effect in muster): %s", text_of(&flags));

	operator_log_write(sentence, (void *) options);
}

struct sockets {
	struct listening metrics, health;
};

static void sockets_done(struct sockets *sockets)
{
	listening_done(&sockets->metrics);
	listening_done(&sockets->health);
}

static struct tfjob_manner manner_of(const struct options *options)
{
	return (struct tfjob_manner){
		.cluster_domain = getenv(DOMAIN_VARIABLE),
		.has_one_service = text_equals(option_text(options, "services"),
					       job_services_words[SERVICES_PER_JOB]),
	};
}

static int serve_operator(const struct options *options, struct operator_settings *settings,
			  struct err *err)
{
	struct sockets sockets CLEANUP(sockets_done) = {{.fd = -1}, {.fd = -1}};
	int rc = operator_flags_check(options, err);

	if (rc < 0)
		return rc;
	log_ignored_flags(options);
	rc = open_address(options, "metrics-bind-address", &sockets.metrics, err);
	if (rc == 0)
		rc = open_address(options, "health-probe-bind-address", &sockets.health, err);
	if (rc < 0)
		return rc;
	struct gang gang = gang_of(option_text(options, "gang-scheduler-name"));

	settings->manner = manner_of(options);
	settings->gang = gang.kind == GANG_NONE ? NULL : &gang;
	settings->metrics = sockets.metrics.fd < 0 ? NULL : &sockets.metrics;
	settings->health = sockets.health.fd < 0 ? NULL : &sockets.health;
	if (option_flag(options, "leader-elect"))
		settings->lease_name = option_text(options, "leader-election-id");
	return operator_run(settings, err);
}

static int run_operator_call(const struct options *options, char ***ret_namespaces, struct err *err)
{
	bool is_setup = false;
	int rc = operator_setup_check(options, &is_setup, err);

	if (rc == 0)
		rc = operator_namespaces(options, ret_namespaces, err);
	if (rc < 0)
		return rc;
	struct operator_settings settings = {
		.log_in = log_in,
		.log_in_data = (void *) options,
		.namespaces = (const char *const *) *ret_namespaces,
		.say = operator_log_write,
		.data = (void *) options,
	};

	return is_setup ? operator_setup_call(options, &settings, err)
			: serve_operator(options, &settings, err);
}

int operator_on_cluster(const struct options *options)
{
	char **namespaces = NULL;
	struct err err = {0};

	operator_log_begin(options);
	int rc = run_operator_call(options, &namespaces, &err);

	operator_namespaces_free(namespaces);
	return rc < 0 ? kube_cluster_fail(&err) : EXIT_DONE;
}
