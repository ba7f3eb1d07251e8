/* The agent between a reconciler and a server, which is a function here. Whole worlds stand in
 * tests/sim and tests/system. */
#include "unit.h"

#include "base/mem.h"
#include "elastic/agent.h"
#include "fake/backend_fake.h"
#include "fake/store_memory.h"
#include "jobs/reconciler.h"
#include "rendezvous/member.h"
#include "spec/job_build.h"

#define NOW ((msec) 1700000000000)

struct scene {
	struct loop *loop;
	struct store *store;
	struct backend *backend;
	struct reconciler *reconciler;
	struct text notes;

	http_asker_fn on_answer;
	void *asked_by; /* the call to answer; NULL: none */
	void *lines[MEMBER_CALLS];
	struct http_asker askers[MEMBER_CALLS];
	size_t n_askers;
	char *path, *body; /* of the last call */
	bool is_waiting; /* the loop runs until the next call */
};

static struct scene scene;

/* The server. */

static void ask(struct http_asker *asker, const char *path, const void *body, size_t len)
{
	free(scene.path);
	free(scene.body);
	scene.path = mem_copy_text(path);
	scene.body = mem_format("%.*s", (int) len, (const char *) body);
	scene.asked_by = scene.lines[asker - scene.askers];
	if (scene.is_waiting)
		loop_stop(scene.loop);
}

static void free_asker(struct http_asker *asker)
{
	(void) asker;
}

static int new_asker(struct loop *loop, const struct http_asker_settings *settings,
		     struct http_asker **ret_asker, struct err *err)
{
	static const struct http_asker_functions functions = {.ask = ask, .free = free_asker};
	size_t place = scene.n_askers++;

	(void) loop, (void) err;
	scene.on_answer = settings->on_answer;
	scene.lines[place] = settings->data;
	scene.askers[place].functions = &functions;
	*ret_asker = &scene.askers[place];
	return 0;
}

/* With a world of this member alone. */
static void answer(const struct member_answer *answer)
{
	struct json *request CLEANUP(json_cleanup) = NULL;
	struct text offer CLEANUP(text_done) = {0}, body CLEANUP(text_done) = {0};
	struct member_answer whole = *answer;

	if (!scene.asked_by) {
		scene.is_waiting = true;
		loop_run(scene.loop);
		scene.is_waiting = false;
	}
	assert_int_equal(json_read(scene.body, strlen(scene.body), &request, NULL), 0);
	json_add_compact(&offer, json_get(request, "offer"));
	struct world_member self = {.id = strrchr(scene.path, '/') + 1,
				    .offer = (char *) text_of(&offer)};

	whole.has_members = true;
	whole.members = &self;
	whole.n_members = 1;
	member_answer_add(&whole, &body);
	scene.on_answer(200, text_of(&body), body.len, NULL, TAKE(scene.asked_by));
}

/* The job of this machine. */

static void ignore_news(void *data)
{
	(void) data;
}

static void ignore_trouble(const char *sentence, void *data)
{
	(void) sentence, (void) data;
}

static void add_note(const struct job *job, const struct note *note, void *data)
{
	(void) job, (void) data;
	text_addf(&scene.notes, "%s\n", note->sentence);
}

static void ignore_pass(const struct reconciler_outcome *outcome, const struct err *err, void *data)
{
	(void) outcome, (void) err, (void) data;
}

static void make_agent(const struct agent_request *request)
{
	const struct agent_settings settings = {
		.request = request,
		.loop = scene.loop,
		.claims = scene.store->claims,
		.on_news = ignore_news,
		.on_trouble = ignore_trouble,
	};
	struct agent *agent;

	assert_int_equal(agent_new(&settings, &agent, NULL), 0);
	scene.backend = agent_accept(agent, backend_fake_new(&backend_fake_like_local, NOW));
}

static void create_job(void)
{
	const char *const command[] = {"true", NULL};
	const struct job_build build = {
		.name = "j", .workers = 1, .command = command, .grace = -1, .timeout = -1};
	struct json *document CLEANUP(json_cleanup) = job_document_new(&build);
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job CLEANUP(job_cleanup) = NULL;

	assert_int_equal(job_read(document, NULL, JOB_STRICT, &faults, &job), 0);
	job_set_uid(job, "u-1");
	assert_int_equal(reconciler_create_job(scene.store, job, NULL, "{}", NULL, NOW, NULL), 0);
}

static int n_conflicts;

static int refuse_change(struct store *store, const char *name, int64_t version,
			 const struct store_change *change, int64_t *ret_version, struct err *err)
{
	(void) store, (void) version, (void) change, (void) ret_version;
	n_conflicts++;
	return err_set(err, ERR_CONFLICT, "job '%s' changed", name);
}

/* As if another process had changed the record meanwhile. */
static void pass_with_conflict(void)
{
	const struct store_functions *functions = scene.store->functions;
	struct store_functions refusing = *functions;

	refusing.change = refuse_change;
	scene.store->functions = &refusing;
	n_conflicts = 0;
	reconciler_run_pass(scene.reconciler, NOW);
	assert_int_equal(n_conflicts, 1);
	assert_int_equal(scene.notes.len, 0);
	scene.store->functions = functions;
}

static void assert_passes_report_once(const char *sentence)
{
	for (int i = 0; i < 3; i++)
		reconciler_run_pass(scene.reconciler, NOW);
	assert_string_equal(text_of(&scene.notes), sentence);
	text_clear(&scene.notes);
}

static int begin(void **state)
{
	(void) state;
	scene = (struct scene){.store = store_memory_new()};
	return loop_new(&scene.loop, NULL);
}

static int end(void **state)
{
	(void) state;
	reconciler_free(scene.reconciler);
	scene.backend->functions->free(scene.backend);
	scene.store->functions->free(scene.store);
	loop_free(scene.loop);
	text_done(&scene.notes);
	free(scene.path);
	free(scene.body);
	return 0;
}

TEST_WITH(begin, end, what_a_conflict_keeps_from_the_user_is_said_by_the_next_pass)
{
	static const struct listening none = {.fd = -1};
	const struct agent_request request = {
		.job_id = "world",
		.terms = {.min = 1, .max = 2, .unit = 1},
		.node_rank = -1,
		.role_name = "default",
		.patience = 60 * MSEC_PER_SECOND,
		.host = "127.0.0.1",
		.port = 1,
		.new_asker = new_asker,
		.listening = &none,
	};
	const struct failure failure = {
		.role = "worker",
		.attempt = 2,
		.exit_code = 3,
		.reason = "Error",
		.message = "worker-0 exited with code 3",
		.machine = "other (machine 1)",
		.time = NOW,
	};
	struct member_answer answered = {
		.uid = "00000000-0000-4000-8000-000000000002",
		.order = {.order = RENDEZVOUS_RUN, .generation = 2, .reason = WORLD_GREW},
	};

	make_agent(&request);
	create_job();
	const struct reconciler_settings settings = {
		.store = scene.store,
		.backend = scene.backend,
		.job_name = "j",
		.listener = {.on_note = add_note},
		.on_passed = ignore_pass,
	};

	scene.reconciler = reconciler_new(&settings);
	assert_passes_report_once("");
	answer(&answered);
	pass_with_conflict();
	assert_passes_report_once(
		"world 2: this machine has rank 0 of 1 (more machines have joined)\n");

	answered.failure = &failure;
	answered.failure_number = 1;
	answer(&answered);
	pass_with_conflict();
	assert_passes_report_once("worker-0 exited with code 3\n");
}
