/* Requests the job, then prints its output and polls its state until both have ended. */
#include "compat/on_cluster.h"

#include "base/json.h"
#include "base/line_text.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "cluster/store_record.h"
#include "command/command.h"
#include "command/output.h"
#include "http/certificate.h"
#include "http/client.h"
#include "http/request.h"
#include "jobs/client.h"
#include "jobs/record.h"
#include "reconcile/failure_text.h"
#include "reconcile/summary.h"
#include "status/failure_words.h"
#include "status/status.h"

#include <signal.h>

#define PERIOD MSEC_PER_SECOND /* between requests */
#define SEPARATOR " | "
#define LONGEST_LINE 65536 /* bytes; our masters send no longer lines */

/* How far a replica's output was printed. A resumed stream begins with the first line. */
struct printed_until {
	char *replica; /* "worker-0" */
	msec time; /* of the last line */
	int64_t n_same; /* number of lines of that time … */
	int64_t n_again; /* … and how many of them this stream has sent again */
	bool is_known; /* this stream has sent only known lines */
};

#define UNAUTHORIZED 401
#define TOKEN_ADVICE "give the token of the master: --token-file"
#define TOO_MANY_REQUESTS 429
#define MOST_LOST_ANSWERS 30 /* in a row, until the master counts as lost */
#define LOG_PATIENCE (30 * MSEC_PER_SECOND) /* for the rest of a finished job's output */

struct following {
	const struct elasticdl_call *call;
	struct loop *loop;
	struct http_client *client;
	struct loop_watch *timer, *interrupt;
	struct http_trust *trust; /* NULL: the system's */
	bool has_token_key; /* of the master, as far as is known */
	char *authorization; /* header; NULL: none */
	bool is_created;
	instant ended_at; /* end of the job; INSTANT_UNSET: not yet */
	char *state; /* last printed */
	int n_lost;
	int exit_code;

	/* Its output, as a master sends it (serve/job_log.h): each line is printed once. A stream
	 * that breaks, or whose master was killed, is requested again until its end. */
	struct http_call *log_call; /* NULL: between two streams, or after the end */
	struct loop_watch *log_timer;
	struct text line; /* the incomplete last line */
	struct printed_until *replicas;
	size_t n_replicas, capacity;
	bool is_log_over;
};

static void following_done(struct following *following)
{
	http_call_cancel(following->log_call);
	http_client_free(following->client);
	loop_watch_free(following->timer);
	loop_watch_free(following->log_timer);
	loop_watch_free(following->interrupt);
	if (following->loop)
		loop_free(following->loop);
	http_trust_free(following->trust);
	mem_free_secret(&following->authorization);
	mem_free_text(&following->state);
	for (size_t i = 0; i < following->n_replicas; i++)
		free(following->replicas[i].replica);
	free(following->replicas);
	text_done(&following->line);
}

static void finish_following(struct following *following, int exit_code)
{
	following->exit_code = exit_code;
	loop_stop(following->loop);
}

/* Lines. */

static struct printed_until *find_printed_replica(struct following *following, const char *name,
						  size_t len)
{
	struct printed_until *replica;

	for (size_t i = 0; i < following->n_replicas; i++)
		if (strncmp(following->replicas[i].replica, name, len) == 0 &&
		    !following->replicas[i].replica[len])
			return &following->replicas[i];
	mem_grow(&following->replicas, &following->capacity, following->n_replicas,
		 sizeof(*following->replicas));
	replica = &following->replicas[following->n_replicas++];
	*replica = (struct printed_until){.replica = mem_copy_bytes(name, len), .time = MSEC_UNSET};
	return replica;
}

static bool is_new(struct printed_until *replica, msec time)
{
	if (replica->is_known && replica->time != MSEC_UNSET &&
	    (time < replica->time ||
	     (time == replica->time && ++replica->n_again <= replica->n_same)))
		return false;
	replica->is_known = false;
	replica->n_same = time == replica->time ? replica->n_same + 1 : 1;
	replica->time = time;
	return true;
}

/* "worker-0 | 2026-11-28T09:00:00.123Z text", or a message of the master. */
static void accept_master_log_line(struct following *following, const char *line)
{
	const char *separator = strstr(line, SEPARATOR);
	const char *stamp = separator ? separator + strlen(SEPARATOR) : "";
	const char *blank = strchr(stamp, ' ');
	char *time_text CLEANUP(mem_free_text) =
		blank ? mem_copy_bytes(stamp, (size_t) (blank - stamp)) : NULL;
	struct text text CLEANUP(text_done) = {0};
	msec time;

	if (!blank || text_read_time(time_text, &time, NULL) < 0) {
		output_print_message("%s", line);
		return;
	}
	size_t replica_len = (size_t) (separator - line), len = strlen(blank + 1);
	const char *shown = line_text_last_state(blank + 1, &len);

	if (!is_new(find_printed_replica(following, line, replica_len), time))
		return;
	line_text_add_plain(&text, line, replica_len);
	text_add(&text, SEPARATOR);
	line_text_add_safe(&text, shown, len);
	text_add_char(&text, '\n');
	output_add_screen(&text);
}

static void on_master_log_bytes(const char *bytes, size_t len, void *data)
{
	struct following *following = data;

	for (const char *feed; len > 0; len -= (size_t) (feed - bytes), bytes = feed) {
		feed = memchr(bytes, '\n', len);
		if (!feed && following->line.len + len > LONGEST_LINE) {
			text_clear(&following->line);
			return;
		}
		feed = feed ? feed + 1 : bytes + len;
		text_add_bytes(&following->line, bytes, (size_t) (feed - bytes));
		if (feed[-1] != '\n')
			continue;
		text_shorten(&following->line, following->line.len - 1);
		accept_master_log_line(following, text_of(&following->line));
		text_clear(&following->line);
	}
	output_flush();
}

/* Streams. */

/* Prints the first line of an answer, in the master's own words, after the URL. */
static void elasticdl_say_answer(const struct following *following, const char *path,
				 const struct http_answer *answer)
{
	struct text text CLEANUP(text_done) = {0};
	const char *location = http_answer_header(answer, "Location", 0);
	bool is_redirect = answer->status < 400 && location;
	const char *sentence = is_redirect ? location : answer->body;

	if (is_redirect)
		text_add(&text, "it redirects, so give the URL of the master (--master): ");
	line_text_add_sentence(&text, sentence, strcspn(sentence, "\n"));
	output_print_message("%s%s: %s", following->call->master, path, text_of(&text));
}

static struct http_call *send_master_request(struct following *following, const char *path,
					     http_bytes_fn on_bytes, http_done_fn on_done)
{
	char *url CLEANUP(mem_free_text) = mem_format("%s%s", following->call->master, path);
	const char *const headers[] = {following->authorization, NULL};
	const struct http_request request = {
		.method = "GET",
		.url = url,
		.headers = headers,
		.trust = following->trust,
		.has_token = following->authorization != NULL,
		.on_bytes = on_bytes,
		.on_done = on_done,
		.data = following,
	};

	return http_call_new(following->client, &request);
}

static char *log_path(const struct following *following)
{
	return mem_format("/jobs/%s/log?follow=true&timestamps=true", following->call->task);
}

/* ElasticDL's own master has no logs, and other failures are permanent. */
static void on_master_log_done(const struct http_answer *answer, const struct err *err, void *data)
{
	struct following *following = data;
	char *path CLEANUP(mem_free_text) = log_path(following);

	following->log_call = NULL;
	text_clear(&following->line);
	if (err || answer->status >= 500) {
		loop_timer_arm_after(following->log_timer, PERIOD);
		return;
	}
	if (answer->status >= 300 && answer->status != 404)
		elasticdl_say_answer(following, path, answer);
	following->is_log_over = true;
	if (instant_is_set(following->ended_at))
		loop_timer_arm_after(following->timer, 0);
}

static void request_master_log(void *data)
{
	struct following *following = data;
	char *path CLEANUP(mem_free_text) = log_path(following);

	for (size_t i = 0; i < following->n_replicas; i++) {
		following->replicas[i].is_known = true;
		following->replicas[i].n_again = 0;
	}
	following->log_call =
		send_master_request(following, path, on_master_log_bytes, on_master_log_done);
}

static int answer_exit_code_of(int status)
{
	if (status == 400 || status == 404 || status == 409)
		return EXIT_USAGE;
	return status == 401 || status == 403 || status == 421 ? EXIT_REFUSED : EXIT_INTERNAL;
}

/* The end of the job. */

static int show_end(const struct following *following, const struct status *status)
{
	struct text text CLEANUP(text_done) = {0};
	const char *task = following->call->task;
	const struct failure_style style = {0};

	if (!status_condition_is_true(status, CONDITION_FAILED)) {
		output_print_message("job %s succeeded", task);
		return EXIT_DONE;
	}
	if (status->failure)
		failure_describe(status, task, &style, &text);
	output_print_message("job %s failed: %s", task,
			     text.len ? text_of(&text) : "the master does not say why");
	return status->failure && status->failure->exit_code > 0 ? status->failure->exit_code
								 : EXIT_FAILED;
}

/* Reasons of one problem, which alternate, are printed once. */
static void print_elasticdl_state(struct following *following, const struct json *tfjob,
				  const struct store_record *record, struct arena *arena)
{
	const struct json *waiting = json_get_path(tfjob, "status", CLIENT_WAITING, NULL);
	const char *reason = json_get_string(waiting, "reason", NULL);
	struct summary summary = {0};

	record_read_summary(record, arena, &summary);
	char *state CLEANUP(mem_free_text) = mem_format(
		"%s, %d of %d running%s%s", summary.state ? summary.state : "Pending",
		summary.running, summary.wanted, summary.message && *summary.message ? ": " : "",
		summary.message ? summary.message : "");

	char *known CLEANUP(mem_free_text) =
		mem_format("%s; %s", state, reason ? failure_phrase_of_waiting_reason(reason) : "");

	if (text_keep(&following->state, known))
		output_print_message("job %s: %s%s%s", following->call->task, state,
				     reason ? "; " : "", json_get_string(waiting, "message", ""));
}

/* The job's output is printed before the message about its end. */
static bool has_printed_all(struct following *following)
{
	if (!instant_is_set(following->ended_at))
		following->ended_at = loop_monotonic_now();
	return following->is_log_over ||
	       instant_since(following->ended_at, loop_monotonic_now()) >= LOG_PATIENCE;
}

static void inspect_job_answer(struct following *following, const struct http_answer *answer)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct json *tfjob CLEANUP(json_cleanup) = NULL;
	struct store_record record CLEANUP(store_record_done) = {0};
	struct status status = {0};
	struct err err = {0};

	if (answer->status != 200) {
		elasticdl_say_answer(following, "", answer);
		finish_following(following, answer_exit_code_of(answer->status));
	} else if (json_read_repaired(answer->body, answer->body_len, &tfjob, &err) < 0 ||
		   store_kube_tfjobs.read(tfjob, &record, &err) < 0 ||
		   record_read_status(&record, arena, &status, &err) < 0) {
		output_print_message("%s: %s", following->call->master, err.text);
		finish_following(following, EXIT_INTERNAL);
	} else if (status_is_finished(&status) && has_printed_all(following)) {
		finish_following(following, show_end(following, &status));
	} else {
		print_elasticdl_state(following, tfjob, &record, arena);
		loop_timer_arm_after(following->timer, PERIOD);
	}
}

/* A master that was killed restarts. */
static void on_job(const struct http_answer *answer, const struct err *err, void *data)
{
	struct following *following = data;

	if (answer && !err) {
		following->n_lost = 0;
		inspect_job_answer(following, answer);
	} else if (++following->n_lost < MOST_LOST_ANSWERS) {
		if (following->n_lost == 1)
			output_print_message("%s; trying again", err->text);
		loop_timer_arm_after(following->timer, PERIOD);
	} else {
		output_print_message("%s; the job may still be running", err->text);
		finish_following(following, EXIT_NOT_REACHED);
	}
}

static void ask_for_job(struct following *following)
{
	char *path CLEANUP(mem_free_text) = mem_format("/jobs/%s", following->call->task);

	/* Ends with its answer, or the client. */
	(void) send_master_request(following, path, NULL, on_job);
}

/* The beginning. */

static void send_create_request(struct following *following);

static void on_created(const struct http_answer *answer, const struct err *err, void *data)
{
	struct following *following = data;
	const struct elasticdl_call *call = following->call;
	bool is_refused = err && err->code == ERR_REFUSED;
	struct text name CLEANUP(text_done) = {0};

	if (is_refused && following->has_token_key && !call->is_own_token) {
		following->has_token_key = false;
		http_trust_free(TAKE(following->trust));
		send_create_request(following);
	} else if (err) {
		output_print_message("%s%s", err->text,
				     is_refused && following->has_token_key ? "; " TOKEN_ADVICE
									    : "");
		finish_following(following, is_refused ? EXIT_REFUSED : EXIT_NOT_REACHED);
	} else if (answer->status == TOO_MANY_REQUESTS) {
		elasticdl_say_answer(following, "", answer);
		loop_timer_arm_after(following->timer, PERIOD);
	} else if (answer->status != 200) {
		elasticdl_say_answer(following, "", answer);
		if (answer->status == UNAUTHORIZED)
			output_print_message(TOKEN_ADVICE);
		finish_following(following, answer_exit_code_of(answer->status));
	} else if (call->is_detached) {
		text_addf(&name, "%s\n", call->task);
		output_add(&name);
		finish_following(following, EXIT_DONE);
	} else {
		output_print_message("job %s was created", call->task);
		following->is_created = true;
		request_master_log(following);
		ask_for_job(following);
	}
}

static void send_create_request(struct following *following)
{
	(void) send_master_request(following, following->call->path, NULL, on_created);
}

static void on_following_timer(void *data)
{
	struct following *following = data;

	if (following->is_created)
		ask_for_job(following);
	else
		send_create_request(following);
}

static void on_following_interrupt(int number, void *data)
{
	struct following *following = data;
	char *url CLEANUP(mem_free_text) =
		mem_format("%s/jobs/%s", following->call->master, following->call->task);
	struct text word CLEANUP(text_done) = {0};

	shell_word_add(&word, url);
	output_print_message("job %s keeps running; to delete it: curl -X DELETE %s",
			     following->call->task, text_of(&word));
	finish_following(following, EXIT_BY_SIGNAL + number);
}

/* The key of a master is made from its token, or an authority has signed it: then the master may be
 * anyone's, and does not get the user's own token. */
static void set_master_trust(struct following *following)
{
	const struct elasticdl_call *call = following->call;
	bool is_tls = text_starts_with(call->master, "https:");
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct http_target target = {0};

	following->has_token_key = is_tls && call->token && !call->pin;
	char *pin CLEANUP(mem_free_text) = following->has_token_key
						   ? certificate_pin_of_secret(call->token)
						   : mem_copy_text(call->pin);

	if (pin)
		following->trust = http_trust_new(&(struct http_trust){.pin = pin});
	bool is_on_loopback = http_target_read(call->master, NULL, arena, &target, NULL) == 0 &&
			      target.is_loopback;

	if (call->token && (is_tls || !call->is_own_token || is_on_loopback))
		following->authorization = mem_format("Authorization: Bearer %s", call->token);
}

static int call_master(const struct elasticdl_call *call)
{
	struct following following CLEANUP(following_done) = {.call = call};
	struct err err = {0};

	if (loop_new(&following.loop, &err) < 0 ||
	    http_client_new(following.loop, "muster/" MUSTER_VERSION, &following.client, &err) < 0)
		return output_fail_with(EXIT_INTERNAL, "%s", err.text);
	set_master_trust(&following);
	following.timer = loop_new_timer(following.loop, on_following_timer, &following);
	following.log_timer = loop_new_timer(following.loop, request_master_log, &following);
	following.interrupt =
		loop_watch_signal(following.loop, SIGINT, on_following_interrupt, &following);
	send_create_request(&following);
	loop_run(following.loop);
	return following.exit_code;
}

int (*const elasticdl_call)(const struct elasticdl_call *call) = call_master;
