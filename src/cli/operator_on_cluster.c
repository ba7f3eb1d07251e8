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

#define NAMESPACE_VARIABLE "KUBEFLOW_NAMESPACE"
#define KIND "tfjob"
#define ENCODERS_LEVEL "zap-log-level"

static const char *const kinds[] = {KIND,     "pytorchjob", "xgboostjob",
				    "mpijob", "paddlejob",  "jaxjob"};

/* ERR_INVALID if kinds other than TFJob are enabled, or a kind is unknown. */
static int operator_flags_check(const struct options *options, struct err *err)
{
	size_t count;
	const char *const *schemes = option_list(options, "enable-scheme", &count);
	bool serves_tfjobs = count == 0;

	for (size_t i = 0; i < count; i++) {
		if (name_find_word_ignoring_case(kinds, ARRAY_LEN(kinds), schemes[i]) < 0)
			return err_set(err, ERR_INVALID,
				       "--enable-scheme: scheme %s is not supported yet",
				       schemes[i]);
		serves_tfjobs |= !strcasecmp(schemes[i], KIND);
	}
	if (serves_tfjobs)
		return 0;
	return err_set(
		err, ERR_INVALID,
		"--enable-scheme=%s: muster manages only TFJob objects; let training-operator "
		"manage the other kinds, with --enable-scheme for each of them",
		schemes[0]);
}

/* The namespaces of --namespace, or else of KUBEFLOW_NAMESPACE, each once; the list ends with NULL
 * and is empty for all namespaces. It is in the arena. ERR_INVALID for an invalid name. */
static int operator_namespaces(const struct options *options, struct arena *arena,
			       const char ***ret_list, struct err *err)
{
	struct text all CLEANUP(text_done) = {0};
	const char *variable = getenv(NAMESPACE_VARIABLE);
	size_t count, n_names = 0;
	const char *const *given = option_list(options, "namespace", &count);

	for (size_t i = 0; i < count; i++)
		text_addf(&all, "%s,", given[i]);
	if (count == 0 && variable)
		text_add(&all, variable);
	char *rest = arena_copy_text(arena, text_of(&all));
	const char **list = arena_take_array(arena, all.len + 1, sizeof(*list));

	for (char *name; (name = strsep(&rest, ","));) {
		if (!*name || name_find_word(list, n_names, name) >= 0)
			continue;
		if (!name_is_dns_label(name))
			return err_set(err, ERR_INVALID, "%s: '%s' is not a valid namespace name",
				       count ? "--namespace" : NAMESPACE_VARIABLE, name);
		list[n_names++] = name;
	}
	*ret_list = list;
	return 0;
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

static void write_object(const char *level, const char *sentence)
{
	struct json *line CLEANUP(json_cleanup) = json_new_object();
	struct text text CLEANUP(text_done) = {0}, now CLEANUP(text_done) = {0};
	struct text clean CLEANUP(text_done) = {0};
	const char *name = strncmp(sentence, JOB_BEGINS, strlen(JOB_BEGINS)) == 0
				   ? sentence + strlen(JOB_BEGINS)
				   : NULL;
	const char *end = name ? strstr(name, JOB_ENDS) : NULL;
	char *job CLEANUP(mem_free_text) = end ? mem_copy_bytes(name, (size_t) (end - name)) : NULL;

	text_add_line_time(&now, loop_now(), 0);
	json_set_string(line, "ts", text_of(&now));
	json_set_string(line, "level", level);
	json_set_string(line, "job", job);
	if (end)
		sentence = end + strlen(JOB_ENDS);
	line_text_add_sentence(&clean, sentence, strlen(sentence));
	json_set_string(line, "msg", text_of(&clean));
	json_add_compact(&text, line);
	text_add_char(&text, '\n');
	file_write_all(STDERR_FILENO, text.bytes, text.len, NULL);
}

static void on_logged(enum log_level level, const char *sentence, void *data)
{
	(void) data;
	write_object(log_level_words[level], sentence);
}

/* Writes a sentence at any level; `data` is the struct options. */
static void operator_log_write(const char *sentence, void *data)
{
	if (is_json(data))
		write_object(IN_ANY_CASE, sentence);
	else
		output_print_message("%s", sentence);
}

/* The given flags that have no effect, "--kube-api-qps, --zap-devel": those that cmd_operator.c
 * lists without a sentence, except three. */
static void log_ignored_flags(const struct options *options)
{
	static const char *const meant[] = {"enable-scheme", ENCODERS_LEVEL, "zap-encoder"};
	struct text text CLEANUP(text_done) = {0};
	const struct option_row *row;
	size_t count;
	const char *const *schemes = option_list(options, "enable-scheme", &count);

	for (size_t i = 0; i < count; i++)
		if (strcasecmp(schemes[i], KIND) != 0)
			text_addf(&text, ", --enable-scheme=%s", schemes[i]);
	for (size_t i = 0; (row = options_row(options_command(options), i)); i++)
		if (!row->one_line && name_find_word(meant, ARRAY_LEN(meant), row->name) < 0 &&
		    option_is_given(options, row->name))
			text_addf(&text, ", --%s", row->name);
	if (text.len == 0)
		return;
	char *sentence CLEANUP(mem_free_text) =
		mem_format("ignored (no effect in muster): %s", text_of(&text) + strlen(", "));

	operator_log_write(sentence, (void *) options);
}

static const struct setup {
	const char *word;
	int (*run)(const struct operator_setup_settings *settings, struct err *err);
} setups[] = {
	{"install", operator_install},
	{"uninstall", operator_uninstall},
	{"upgrade-from-training-operator", operator_upgrade},
};

/* The setup command of the command line; NULL: it serves. ERR_INVALID for another word, or for an
 * option that does not belong to it: options of setup commands have their own group, and
 * --namespace belongs to both. */
static int find_setup(const struct options *options, const struct setup **ret_setup,
		      struct err *err)
{
	const char *word = options_arguments(options)[0];
	const struct setup *setup = NULL;
	const struct option_row *row;

	for (size_t i = 0; word && i < ARRAY_LEN(setups); i++)
		if (text_equals(setups[i].word, word))
			setup = &setups[i];
	if (word && !setup)
		return err_set(err, ERR_INVALID,
			       "'%s': unknown (expected install, uninstall or "
			       "upgrade-from-training-operator)",
			       word);
	for (size_t i = 0; (row = options_row(options_command(options), i)); i++) {
		if (!option_is_given(options, row->name) || text_equals(row->name, "namespace"))
			continue;
		if (setup && row->group == OPTIONS_OF_COMMAND)
			return err_set(err, ERR_INVALID,
				       "--%s: is an option of the operator itself; set it in the "
				       "arguments of its Deployment",
				       row->name);
		if (!setup && row->group == OPTIONS_OF_SETUP)
			return err_set(err, ERR_INVALID,
				       "--%s: needs 'install', 'uninstall' or "
				       "'upgrade-from-training-operator'",
				       row->name);
	}
	*ret_setup = setup;
	return 0;
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
static int operator_setup_call(const struct options *options, const struct setup *setup,
			       const struct operator_settings *settings, struct err *err)
{
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

/* Addresses as in training-operator: "0" is none, and ":8080" is on all addresses. */
static int open_address(const struct options *options, const char *option,
			struct listening *ret_listening, struct err *err)
{
	const char *address = option_text(options, option);

	if (!address || text_equals(address, "0"))
		return 0;
	char *all CLEANUP(mem_free_text) =
		*address == ':' ? mem_format("0.0.0.0%s", address) : mem_copy_text(address);

	if (listening_open(all, ret_listening, err) < 0) {
		err_prefix(err, "--%s", option);
		return err->code = ERR_INVALID;
	}
	char *sentence CLEANUP(mem_free_text) =
		mem_format("/metrics, /healthz and /readyz: %s%s",
			   ret_listening->path ? "" : "http://", ret_listening->address);

	operator_log_write(sentence, (void *) options);
	return 0;
}

static int serve_operator(const struct options *options, struct operator_settings *settings,
			  struct err *err)
{
	struct listening metrics CLEANUP(listening_done) = {.fd = -1};
	struct listening health CLEANUP(listening_done) = {.fd = -1};
	int rc = operator_flags_check(options, err);

	if (rc < 0)
		return rc;
	log_ignored_flags(options);
	rc = open_address(options, "metrics-bind-address", &metrics, err);
	if (rc == 0)
		rc = open_address(options, "health-probe-bind-address", &health, err);
	if (rc < 0)
		return rc;
	struct gang gang = gang_of(option_text(options, "gang-scheduler-name"));

	settings->manner = (struct tfjob_manner){
		.cluster_domain = getenv(DOMAIN_VARIABLE),
		.has_one_service = text_equals(option_text(options, "services"),
					       job_services_words[SERVICES_PER_JOB]),
	};
	settings->gang = gang.kind == GANG_NONE ? NULL : &gang;
	settings->metrics = metrics.fd < 0 ? NULL : &metrics;
	settings->health = health.fd < 0 ? NULL : &health;
	if (option_flag(options, "leader-elect"))
		settings->lease_name = option_text(options, "leader-election-id");
	return operator_run(settings, err);
}

int operator_on_cluster(const struct options *options)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct setup *setup = NULL;
	const char **namespaces = NULL;
	struct err err = {0};

	/* From here on the log has the format and the level that the options select. */
	log_set_level(operator_log_level(options));
	if (is_json(options))
		log_set_sink(on_logged, NULL);
	if (find_setup(options, &setup, &err) < 0 ||
	    operator_namespaces(options, arena, &namespaces, &err) < 0)
		return kube_cluster_fail(&err);
	struct operator_settings settings = {
		.log_in = log_in,
		.log_in_data = (void *) options,
		.namespaces = namespaces,
		.say = operator_log_write,
		.data = (void *) options,
	};
	int rc = setup ? operator_setup_call(options, setup, &settings, &err)
		       : serve_operator(options, &settings, &err);

	return rc < 0 ? kube_cluster_fail(&err) : EXIT_DONE;
}
