#include "unit.h"

#include "base/text.h"
#include "check/check.h"
#include "check/command.h"

#define PROGRAM "/usr/bin/muster"
#define MODELS "/state/programs/check-1.pyz"
#define RUN PROGRAM " run --color never --grace 3s --name "

static void assert_words(char **words, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	for (; *words; words++)
		text_addf(&text, "%s%s", text.len ? " " : "", *words);
	assert_string_equal(text_of(&text), expected);
}

static void assert_command(const struct check *check, enum check_job job, const char *expected)
{
	const struct check_programs programs = {.muster = PROGRAM, .model = MODELS};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	assert_words(check_command(check, job, &programs, arena), expected);
}

static void tell_serving(struct check *check, const char *task, int port)
{
	struct text line CLEANUP(text_done) = {0};

	text_addf(&line, "%s | {\"muster\":\"serving\",\"task\":\"%s\",\"target\":\"grpc://h:%d\"}",
		  task, task, port);
	check_add_line(check, CHECK_SERVERS_JOB, text_of(&line), line.len, moment(1));
}

/* A check of one worker and one parameter server that has come as far as its training. */
static void begin(struct check *check, const struct check_request *request)
{
	static const char *const lines[] = {
		"w | {\"muster\":\"network\",\"from\":\"worker-0\",\"to\":\"ps-0\"}",
		"w | {\"muster\":\"network\",\"from\":\"ps-0\",\"to\":\"worker-0\"}",
	};
	static const char *const probed[] = {
		"p | {\"muster\":\"devices\",\"task\":\"worker-0\",\"devices\":[]}",
		"p | {\"muster\":\"devices\",\"task\":\"ps-0\",\"devices\":[]}",
		"p | {\"muster\":\"ran\",\"task\":\"worker-0\"}",
		"p | {\"muster\":\"ran\",\"task\":\"ps-0\"}",
	};

	check_init(check, request, moment(0));
	if (!request->is_on_kubernetes)
		check_record_found(check, CHECK_LIBRARY, "here", moment(1));
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		check_add_line(check, CHECK_SERVERS_JOB, lines[i], strlen(lines[i]), moment(1));
	tell_serving(check, "worker-0", 1);
	tell_serving(check, "ps-0", 2);
	for (size_t i = 0; i < ARRAY_LEN(probed); i++)
		check_add_line(check, CHECK_PROBE_JOB, probed[i], strlen(probed[i]), moment(1));
	check_job_ended(check, CHECK_PROBE_JOB, 0, NULL, moment(1));
}

static struct check_request request_of(enum check_model model)
{
	return (struct check_request){
		.name = "check-x", .model = model, .workers = 1, .ps = 1, .timeout = 121000};
}

TEST(servers_are_this_program_under_a_run_of_it)
{
	struct check_request request = request_of(CHECK_MNIST);
	struct check check;

	check_init(&check, &request, moment(0));
	assert_command(&check, CHECK_SERVERS_JOB,
		       RUN "check-x --workers 1 --ps 1 -- " PROGRAM
			   " server --network --output json");
	check_done(&check);
	request.is_setup_only = true;
	request.state_dir = "/state";
	request.libtensorflow = "/opt/tf";
	check_init(&check, &request, moment(0));
	assert_command(&check, CHECK_SERVERS_JOB,
		       PROGRAM " run --state-dir /state --color never --grace 3s --name check-x "
			       "--env MUSTER_LIBTENSORFLOW=/opt/tf --detach --workers 1 --ps 1 "
			       "-- " PROGRAM " server --network --output json");
	check_done(&check);
}

TEST(the_probe_asks_all_servers_and_clients_have_the_workers_as_masters)
{
	struct check_request request = request_of(CHECK_MNIST);
	struct check check;

	begin(&check, &request);
	assert_command(&check, CHECK_PROBE_JOB,
		       RUN "check-x-probe -- " PROGRAM
			   " check probe --servers grpc://h:1,grpc://h:2 --timeout 31s");
	assert_command(&check, CHECK_ROLL_CALL_JOB,
		       RUN "check-x-roll-call -- " PROGRAM
			   " check probe --servers grpc://h:1,grpc://h:2 --timeout 5s");
	assert_command(&check, CHECK_MODEL_JOB,
		       RUN "check-x-mnist --workers 1 " MODELS " mnist --servers grpc://h:1 "
			   "--workers 1 --ps 1 --container check-x --timeout 61");
	check_done(&check);
}

TEST(what_was_asked_for_goes_to_the_model)
{
	struct check_request request = request_of(CHECK_CENSUS);
	struct check check;

	request.is_sync = true;
	request.steps = 7;
	begin(&check, &request);
	check.request.data_dir = "/data";
	assert_command(&check, CHECK_MODEL_JOB,
		       RUN "check-x-census --workers 1 " MODELS " census --servers grpc://h:1 "
			   "--workers 1 --ps 1 --container check-x --sync-replicas --steps 7 "
			   "--data-dir /data --timeout 61");
	check_done(&check);
}

TEST(models_with_servers_of_their_own_are_the_cluster)
{
	struct check_request request = request_of(CHECK_PS2);
	struct check check;

	begin(&check, &request);
	assert_command(&check, CHECK_MODEL_JOB,
		       RUN
		       "check-x-ps2 --chief --ps 1 --ps-server --worker-server --workers 1 " MODELS
		       " ps2 --timeout 61");
	check_done(&check);
	request.model = CHECK_MWMS;
	begin(&check, &request);
	assert_command(&check, CHECK_MODEL_JOB,
		       RUN "check-x-mwms --workers 1 " MODELS " mwms --timeout 61");
	check_done(&check);
}

TEST(on_a_cluster_all_of_them_are_pods_of_the_same_place)
{
	static const char *const place[] = {"--image", "a:1", "--volume", "b:/c", NULL};
	static const char here[] = PROGRAM " run --on kubernetes --image a:1 --volume b:/c "
					   "--color never --grace 3s --name ";
	struct check_request request = request_of(CHECK_MNIST);
	struct text expected CLEANUP(text_done) = {0};
	struct check check;

	request.is_on_kubernetes = true;
	request.place = place;
	begin(&check, &request);
	text_addf(&expected,
		  "%scheck-x --no-network-policy --workers 1 --ps 1 -- muster server --network "
		  "--output json",
		  here);
	assert_command(&check, CHECK_SERVERS_JOB, text_of(&expected));
	text_clear(&expected);
	text_addf(&expected,
		  "%scheck-x-probe -- muster check probe --servers grpc://h:1,grpc://h:2 --timeout "
		  "31s",
		  here);
	assert_command(&check, CHECK_PROBE_JOB, text_of(&expected));
	text_clear(&expected);
	text_addf(&expected,
		  "%scheck-x-mnist --workers 1 " MODELS " mnist --servers grpc://h:1 "
		  "--workers 1 --ps 1 --container check-x --timeout 61",
		  here);
	assert_command(&check, CHECK_MODEL_JOB, text_of(&expected));
	check_done(&check);
}

TEST(servers_that_stay_are_followed_and_stopped_where_they_are)
{
	static const char *const place[] = {"--image", "a:1", "--context", "lab", NULL};
	const struct check_programs programs = {.muster = PROGRAM};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct check_request request = request_of(CHECK_MNIST);
	struct text text CLEANUP(text_done) = {0};
	struct check check;

	request.is_setup_only = true;
	check_init(&check, &request, moment(0));
	assert_words(check_command_follow(&check, CHECK_SERVERS_JOB, &programs, arena),
		     PROGRAM " logs --follow --prefix --color never check-x");
	assert_words(check_command_stop(&check, CHECK_SERVERS_JOB, &programs, arena),
		     PROGRAM " stop --grace 3s check-x");
	check_done(&check);
	request.is_on_kubernetes = true;
	request.place = place;
	check_init(&check, &request, moment(0));
	tell_serving(&check, "worker-0", 1);
	assert_words(check_command_stop(&check, CHECK_SERVERS_JOB, &programs, arena),
		     PROGRAM " stop --context lab --grace 3s check-x");
	check_command_describe_try(&check, &text);
	assert_string_equal(text_of(&text), "muster check remote --on kubernetes --image a:1 "
					    "--context lab --servers grpc://h:1");
	text_clear(&text);
	check_command_describe_stop(&check, &text);
	assert_string_equal(text_of(&text), "muster stop --context lab check-x");
	check_done(&check);
}
