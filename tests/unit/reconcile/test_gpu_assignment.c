#include "gpu_lists.h"
#include "unit.h"

#include "reconcile/gpu_assignment.h"

struct table {
	struct arena *arena;
	struct gpus gpus;
	struct job *job;
	gpu_set free;
	struct gpu_assignment deal;
};

static void begin(struct table *table)
{
	table->arena = arena_new();
	gpus_read(four_gpus, table->arena, &table->gpus);
}

static void end(struct table *table)
{
	job_free(table->job);
	arena_free(table->arena);
}

FIXTURE(struct table, begin, end)

/* Roles are given as `"Worker":{"replicas":2` and so on; a template without wishes is added. */
static void make_role(struct text *text, const char *title, int replicas, const char *metadata,
		      const char *container)
{
	text_addf(text,
		  "%s\"%s\":{\"replicas\":%d,\"template\":{\"metadata\":{%s},\"spec\":"
		  "{\"containers\":[{\"name\":\"tensorflow\",\"command\":[\"true\"]%s}]}}}",
		  text->len ? "," : "", title, replicas, metadata, container);
}

static int read_job(struct table *table, const struct text *roles, enum job_strictness strictness,
		    struct faults *faults)
{
	char *text CLEANUP(mem_free_text) =
		mem_format("{\"apiVersion\":\"kubeflow.org/v1\",\"kind\":\"TFJob\",\"metadata\":"
			   "{\"name\":\"a\"},\"spec\":{\"tfReplicaSpecs\":{%s}}}",
			   text_of(roles));
	struct json *root CLEANUP(json_cleanup) = NULL;

	assert_int_equal(json_read(text, strlen(text), &root, NULL), 0);
	job_free(table->job);
	table->job = NULL;
	return job_read(root, NULL, strictness, faults, &table->job);
}

static void make_job(struct table *table, const struct text *roles)
{
	struct faults faults CLEANUP(faults_done) = {0};

	assert_int_equal(read_job(table, roles, JOB_STRICT, &faults), 0);
}

/* A job of roles like "Worker" 2, "PS" 1, each with the same wish for its container. */
static void make_simple(struct table *table, const char *container, int chief, int workers, int ps,
			int evaluators)
{
	struct text roles CLEANUP(text_done) = {0};

	make_role(&roles, "Chief", chief, "", container);
	make_role(&roles, "Worker", workers, "", container);
	make_role(&roles, "PS", ps, "", "");
	make_role(&roles, "Evaluator", evaluators, "", container);
	make_job(table, &roles);
}

static void deal(struct table *table, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};
	struct err err = {0};

	if (gpu_assignment_create(table->job, &table->gpus, table->free, NULL, "", table->arena,
				  &table->deal, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < table->deal.count; i++) {
		const struct gpu_share *hand = &table->deal.hands[i];

		text_addf(&text, "%s%s-%d ", text.len ? "; " : "", hand->role, hand->index);
		if (hand->is_own)
			text_add(&text, "own");
		else
			gpus_add_names(&table->gpus, hand->set, &text);
	}
	assert_string_equal(text_of(&text), expected);
}

static void deal_all(struct table *table, const char *expected)
{
	table->free = gpus_all(&table->gpus);
	deal(table, expected);
}

static void keep(struct table *table, size_t count)
{
	table->gpus.count = count;
}

#define TABLE_TEST(name) TEST_IN(fixture_begin, fixture_end, struct table *table, name)

TABLE_TEST(replicas_that_train_share_equally_and_in_order)
{
	make_simple(table, "", 0, 2, 1, 0);
	deal_all(table, "ps-0 none; worker-0 0,1; worker-1 2,3");
	make_simple(table, "", 1, 2, 0, 1);
	deal_all(table, "chief-0 0; worker-0 1; worker-1 2; evaluator-0 3");
	make_simple(table, "", 0, 3, 0, 0);
	deal_all(table, "worker-0 0; worker-1 1; worker-2 2"); /* one is left over */
	make_simple(table, "", 0, 1, 0, 0);
	deal_all(table, "worker-0 0,1,2,3");
	assert_true(gpu_assignment_is_disjoint(&table->deal));
}

TABLE_TEST(an_evaluator_goes_without_before_a_worker_does)
{
	keep(table, 2);
	make_simple(table, "", 0, 2, 0, 1);
	deal_all(table, "worker-0 0; worker-1 1; evaluator-0 none");
}

TABLE_TEST(too_few_for_all_that_train_are_for_none)
{
	struct text text CLEANUP(text_done) = {0};

	keep(table, 2);
	make_simple(table, "", 0, 3, 0, 1);
	deal_all(table, "worker-0 none; worker-1 none; worker-2 none; evaluator-0 none");
	gpu_assignment_describe(table->job, &table->gpus, &table->deal, table->free, "", &text);
	assert_string_equal(text_of(&text),
			    "2 of 2 GPUs are free, fewer than the 3 training replicas: no replica "
			    "gets a GPU, because all must be alike (--gpu all: they share all)");
	text_clear(&text);
	gpu_assignment_describe(table->job, &table->gpus, &table->deal, 1, "job 'x' holds 1",
				&text);
	assert_string_equal(text_of(&text),
			    "1 of 2 GPUs is free (job 'x' holds 1), fewer than the 3 training "
			    "replicas: no replica gets a GPU, because all must be alike");
	assert_false(gpu_assignment_is_disjoint(&table->deal));
}

TEST_WITH(fixture_begin, fixture_end, a_number_that_was_asked_for_is_given_or_refused)
{
	static const char wish[] = ",\"resources\":{\"limits\":{\"nvidia.com/gpu\":2}}";
	struct table *table = *state;
	struct err err = {0};

	make_simple(table, wish, 0, 2, 1, 0);
	deal_all(table, "ps-0 none; worker-0 0,1; worker-1 2,3");
	assert_int_equal(gpu_assignment_check(table->job, &table->gpus, &err), 0);
	table->free = 0xd;
	assert_int_equal(gpu_assignment_create(table->job, &table->gpus, table->free, NULL,
					       "job 'b' holds 1", table->arena, &table->deal, &err),
			 ERR_LIMIT);
	assert_string_equal(err.text,
			    "the job requests 4 GPUs, but 3 of 4 are free (job 'b' holds 1); wait "
			    "for a job to end (muster wait JOB, or run --wait-for-gpu), or run "
			    "without them (--gpu none)");
	make_simple(table, wish, 0, 3, 0, 0);
	assert_int_equal(gpu_assignment_check(table->job, &table->gpus, &err), ERR_LIMIT);
	assert_string_equal(err.text, "the job requests 6 GPUs, but 4 are available: request fewer "
				      "per replica (--gpu N, --gpu none), or fewer replicas");
	table->gpus.count = 0;
	assert_int_equal(gpu_assignment_check(table->job, &table->gpus, &err), ERR_LIMIT);
	assert_string_equal(err.text, "the job requests 6 GPUs, but this machine has none; to run "
				      "without them: --gpu none");
}

TABLE_TEST(none_is_a_number_and_all_is_a_word)
{
	struct text roles CLEANUP(text_done) = {0};

	make_simple(table, ",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"0\"}}", 0, 2, 0, 0);
	deal_all(table, "worker-0 none; worker-1 none");
	make_role(&roles, "Worker", 2, "\"annotations\":{\"muster/gpus\":\"all\"}", "");
	make_job(table, &roles);
	deal_all(table, "worker-0 0,1,2,3; worker-1 0,1,2,3");
	assert_false(gpu_assignment_is_disjoint(&table->deal));
	table->free = 7;
	assert_int_equal(gpu_assignment_create(table->job, &table->gpus, table->free, NULL, "",
					       table->arena, &table->deal, NULL),
			 ERR_LIMIT);
	table->gpus.count = 0;
	assert_int_equal(gpu_assignment_check(table->job, &table->gpus, NULL), ERR_LIMIT);
}

TABLE_TEST(a_limit_that_is_no_number_is_a_fault_for_the_strict)
{
	struct text roles CLEANUP(text_done) = {0};
	struct faults faults CLEANUP(faults_done) = {0};

	make_role(&roles, "Worker", 1, "",
		  ",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"many\"}}");
	assert_int_equal(read_job(table, &roles, JOB_STRICT, &faults), ERR_INVALID);
	assert_string_equal(faults.list[0].path,
			    "spec.tfReplicaSpecs[Worker].template.spec.containers[0].resources."
			    "limits[nvidia.com/gpu]");
	assert_int_equal(read_job(table, &roles, JOB_LENIENT, &faults), 0);
	assert_int_equal(table->job->roles[0].gpus, JOB_GPUS_SHARED);
	text_clear(&roles);
	make_role(&roles, "Worker", 1, "\"annotations\":{\"muster/gpus\":\"some\"}", "");
	assert_int_equal(read_job(table, &roles, JOB_STRICT, &faults), ERR_INVALID);
	assert_string_equal(faults.list[1].sentence,
			    "Unsupported value: \"some\": supported values: \"all\"");
}

TABLE_TEST(a_variable_of_the_job_itself_counts)
{
	struct text text CLEANUP(text_done) = {0};
	struct text roles CLEANUP(text_done) = {0};

	make_role(&roles, "Chief", 1, "",
		  ",\"env\":[{\"name\":\"CUDA_VISIBLE_DEVICES\",\"value\":\"1\"}]");
	make_role(&roles, "Worker", 1, "", "");
	make_job(table, &roles);
	deal_all(table, "chief-0 own; worker-0 0,1,2,3");
	gpu_assignment_describe(table->job, &table->gpus, &table->deal, table->free, "", &text);
	assert_string_equal(text_of(&text), "GPUs: worker-0 0,1,2,3; chief uses the GPUs in the "
					    "job's own CUDA_VISIBLE_DEVICES");
}

TABLE_TEST(what_was_dealt_stays_when_replicas_come)
{
	struct gpu_assignment before;

	make_simple(table, "", 0, 1, 1, 0);
	table->free = 0x3;
	deal(table, "ps-0 none; worker-0 0,1");
	before = table->deal;
	make_simple(table, "", 0, 3, 1, 0);
	assert_int_equal(gpu_assignment_create(table->job, &table->gpus, 0xc, &before, "",
					       table->arena, &table->deal, NULL),
			 0);
	assert_int_equal(gpu_assignment_find(&table->deal, "worker", 0)->set, 0x3);
	assert_int_equal(gpu_assignment_find(&table->deal, "worker", 1)->set, 0xc);
	assert_int_equal(gpu_assignment_find(&table->deal, "worker", 2)->set, 0);
	assert_int_equal(gpu_assignment_all(&table->deal), 0xf);

	struct text text CLEANUP(text_done) = {0};

	gpu_assignment_describe(table->job, &table->gpus, &table->deal, 0xc, "", &text);
	assert_string_equal(text_of(&text), "GPUs: worker-0 0,1; worker-1 2,3; worker-2 none");
}

TABLE_TEST(a_process_gets_one_mig_device_at_most)
{
	struct err err = {0};

	gpus_read(mig_devices, table->arena, &table->gpus);
	make_simple(table, "", 0, 1, 0, 0);
	deal_all(table, "worker-0 0:0");
	make_simple(table, ",\"resources\":{\"limits\":{\"nvidia.com/gpu\":1}}", 0, 1, 0, 0);
	assert_int_equal(gpu_assignment_check(table->job, &table->gpus, &err), 0);
	make_simple(table, ",\"resources\":{\"limits\":{\"nvidia.com/gpu\":2}}", 0, 1, 0, 0);
	assert_int_equal(gpu_assignment_check(table->job, &table->gpus, &err), ERR_LIMIT);
	assert_non_null(strstr(err.text, "one MIG device"));
}

TABLE_TEST(what_is_said_names_each_replica_with_its_gpus)
{
	struct text text CLEANUP(text_done) = {0};

	make_simple(table, "", 0, 2, 1, 0);
	deal_all(table, "ps-0 none; worker-0 0,1; worker-1 2,3");
	gpu_assignment_describe(table->job, &table->gpus, &table->deal, table->free, "", &text);
	assert_string_equal(text_of(&text), "GPUs: worker-0 0,1; worker-1 2,3");
	text_clear(&text);
	table->free = 0;
	make_simple(table, "", 0, 1, 0, 0);
	deal(table, "worker-0 none");
	gpu_assignment_describe(table->job, &table->gpus, &table->deal, table->free,
				"job 'b' holds 0,1,2,3", &text);
	assert_string_equal(text_of(&text), "0 of 4 GPUs are free (job 'b' holds 0,1,2,3): the job "
					    "runs without GPUs (to wait for one: --wait-for-gpu)");
}
