/* client.py of ElasticDL's launcher for TensorFlow: asks a master (muster serve, or the old one)
 * for a job. It no longer builds an image: the master adds the server for Pods to the given one. */
#include "base/mem.h"
#include "base/text.h"
#include "command/command.h"
#include "command/input.h"
#include "command/options.h"
#include "command/output.h"
#include "compat/call.h"
#include "compat/on_cluster.h"
#include "http/query.h"
#include "spec/elasticdl.h"
#include "spec/limits.h"

#define PIN_DIGITS 44 /* of 32 bytes in base64 */

/* "http://host:port", with or without a trailing slash. */
static int read_master(const struct options *old, char **ret_master, struct err *err)
{
	const char *master = option_text(old, "master");
	const char *host = master ? strstr(master, "://") : NULL;
	size_t len = master ? strlen(master) : 0;

	while (len > 0 && master[len - 1] == '/')
		len--;
	if (!master)
		return err_set(err, ERR_INVALID,
			       "--master: missing (expected the URL of the master, "
			       "http://HOST:PORT)");
	if (!host ||
	    (!text_starts_with(master, "http://") && !text_starts_with(master, "https://")) ||
	    !host[3] || memchr(host + 3, '/', len - (size_t) (host + 3 - master)))
		return err_set(err, ERR_INVALID,
			       "--master: '%s' is not the URL of a master (expected "
			       "http://HOST:PORT)",
			       master);
	*ret_master = mem_copy_bytes(master, len);
	return 0;
}

/* All faults are reported before anything is sent. They use the names of the old options. */
static bool check_job_parameters(const struct elasticdl_parameter *parameters, size_t count)
{
	static const char *const names[][2] = {
		{"strategy", "--strategy"}, {"n_worker", "--worker-num"}, {"n_ps", "--ps-num"},
		{"img", "--image"},         {"name", "--task"},
	};
	struct elasticdl_request request;
	struct err err = {0};

	if (elasticdl_read(parameters, count, &request, &err) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i][0]);

		if (text_starts_with(err.text, names[i][0]) && err.text[len] == ':') {
			output_print_message("%s%s", names[i][1], err.text + len);
			return false;
		}
	}
	output_print_message("%s", err.text);
	return false;
}

/* Other texts libcurl would take for a file name. */
static bool check_pin(const char *pin)
{
	static const char beginning[] = "sha256//";

	if (!pin || (text_starts_with(pin, beginning) &&
		     strlen(pin) == strlen(beginning) + PIN_DIGITS && !strchr(pin, ';')))
		return true;
	output_print_message("--pin: not a public key (expected sha256// and 44 characters, as "
			     "'muster serve --tls-dir' prints it)");
	return false;
}

static int client_run(const struct options *old)
{
	char *master CLEANUP(mem_free_text) = NULL, *token CLEANUP(mem_free_secret) = NULL;
	char *workers CLEANUP(mem_free_text) =
		mem_format("%lld", (long long) option_number(old, "worker-num", 0));
	char *ps CLEANUP(mem_free_text) =
		mem_format("%lld", (long long) option_number(old, "ps-num", 0));
	const struct elasticdl_parameter all[] = {
		{"strategy", option_text(old, "strategy")},
		{"n_worker", workers},
		{"n_ps", ps},
		{"img", option_text(old, "image")},
		{"name", option_text(old, "task")},
		{"server", "muster"},
	};
	struct elasticdl_parameter given[ARRAY_LEN(all)];
	const char *token_file = option_text(old, "token-file");
	size_t count = 0;
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].value)
			given[count++] = all[i];
	bool is_right = check_job_parameters(given, count) & check_pin(option_text(old, "pin"));

	if (read_master(old, &master, &err) < 0 ||
	    (token_file ? user_token_read_file(token_file, &token, &err)
			: user_token_read(false, &token, &err)) < 0) {
		output_print_message("%s", err.text);
		is_right = false;
	}
	if (!is_right)
		return EXIT_USAGE;
	struct text path CLEANUP(text_done) = {0};

	for (size_t i = 0; i < count; i++) {
		text_add(&path, i ? "&" : "/create?");
		http_query_add(&path, given[i].name, given[i].value);
	}
	const struct elasticdl_call call = {
		.master = master,
		.path = text_of(&path),
		.task = option_text(old, "task"),
		.token = token,
		.is_own_token = !token_file,
		.pin = option_text(old, "pin"),
		.is_detached = option_flag(old, "detach"),
	};

	if (option_flag(old, "dry-run")) {
		struct text url CLEANUP(text_done) = {0};

		text_addf(&url, "GET %s%s\n", master, text_of(&path));
		output_add(&url);
		return EXIT_DONE;
	}
	if (!elasticdl_call)
		return call_other_program(old);
	if (token)
		user_token_warn_if_shared(token_file);
	return elasticdl_call(&call);
}

static const struct option_row rows_of_client[] = {
	OPTION("master", TEXT, "URL", NULL, "URL of the master: http://HOST:PORT"),
	WORDS("strategy", "AllReduce|ParameterServer", NULL, "strategy of the training"),
	OPTION("ps-num", NUMBER, "N", "0", "number of parameter servers", .high = LIMIT_REPLICAS),
	OPTION("worker-num", NUMBER, "N", "1", "number of workers", .low = 1,
	       .high = LIMIT_REPLICAS),
	OPTION("image", TEXT, "IMAGE", NULL,
	       "image of the training, with exec.py in its working directory"),
	OPTION("task", TEXT, "NAME", "default", "name of the job"),
	OPTION("token-file", TEXT, "FILE", NULL,
	       "file with the token of the master (default: your own token)", .has_variable = true),
	OPTION("pin", TEXT, "sha256//KEY", NULL,
	       "public key of an https master whose certificate no authority signed",
	       .has_variable = true),
	FLAG("detach", "print the name of the job, and do not wait for its end", .letter = 'd'),
	FLAG("dry-run", "print the request, and send nothing"),
	{0},
};

const struct command compat_elasticdl_client = {
	.name = "compat elasticdl-client",
	.arguments = "[OPTIONS]",
	.one_line = "ask a master of ElasticDL's launcher for a job (muster serve)",
	.examples = "  client.py --master http://192.168.64.5:31898 --strategy AllReduce --ps-num "
		    "0 \\\n"
		    "          --worker-num 4 --image allreduce --task test\n",
	.options = rows_of_client,
	.run = client_run,
};
