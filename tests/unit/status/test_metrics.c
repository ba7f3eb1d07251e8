/* A job's numbers in Prometheus' text format. */
#include "unit.h"

#include "status/metrics.h"

#include "scene.h"
#include <stdio.h>

#define LABELS "{namespace=\"default\",job=\"mnist\""

static void assert_contains(const struct text *text, const char *line)
{
	if (!strstr(text_of(text), line))
		fail_msg("no '%s' in:\n%s", line, text_of(text));
}

TEST_WITH(scene_begin, scene_end, replicas_are_counted_by_role_and_state)
{
	struct scene *scene = *state;
	const struct metrics_passes passes = {0};
	struct text text CLEANUP(text_done) = {0};

	scene->job.name = (char *) "mnist";
	scene->job.name_space = (char *) "default";
	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene->status.restarts = 3;
	scene->status.replicas[2].state = REPLICA_FAILED;
	metrics_write(&scene->job, &scene->status, &passes, &text);
	assert_contains(&text, "# TYPE muster_job_replicas gauge\nmuster_job_replicas{");
	assert_contains(&text,
			"\nmuster_job_replicas" LABELS ",role=\"ps\",state=\"Running\"} 1\n");
	assert_contains(&text, "\nmuster_job_replicas" LABELS ",role=\"ps\",state=\"Failed\"} 0\n");
	assert_contains(&text,
			"\nmuster_job_replicas" LABELS ",role=\"worker\",state=\"Running\"} 1\n");
	assert_contains(&text,
			"\nmuster_job_replicas" LABELS ",role=\"worker\",state=\"Failed\"} 1\n");
	assert_contains(&text, "\nmuster_job_restarts_total" LABELS "} 3\n");
}

TEST_WITH(scene_begin, scene_end, before_there_is_a_status_all_is_zero)
{
	struct scene *scene = *state;
	const struct metrics_passes passes = {0};
	const struct status none = {0};
	struct text text CLEANUP(text_done) = {0};

	scene->job.name = (char *) "mnist";
	scene->job.name_space = (char *) "default";
	scene_add_role(scene, ROLE_WORKER, 2, RESTART_NEVER);
	metrics_write(&scene->job, &none, &passes, &text);
	assert_contains(&text, "role=\"worker\",state=\"Pending\"} 0\n");
	assert_contains(&text, "\nmuster_pass_seconds_sum" LABELS "} 0.000000\n");
}

TEST_WITH(scene_begin, scene_end, a_pass_is_counted_in_every_bucket_that_it_fits_in)
{
	struct scene *scene = *state;
	struct metrics_passes passes = {0};
	struct text text CLEANUP(text_done) = {0};

	scene->job.name = (char *) "mnist";
	scene->job.name_space = (char *) "default";
	metrics_add_pass(&passes, 1000);
	metrics_add_pass(&passes, 1001);
	metrics_add_pass(&passes, 20000000);
	metrics_write(&scene->job, &scene->status, &passes, &text);
	assert_contains(&text, "# TYPE muster_pass_seconds histogram\n");
	assert_contains(&text, "\nmuster_pass_seconds_bucket" LABELS ",le=\"0.001\"} 1\n");
	assert_contains(&text, "\nmuster_pass_seconds_bucket" LABELS ",le=\"0.01\"} 2\n");
	assert_contains(&text, "\nmuster_pass_seconds_bucket" LABELS ",le=\"10\"} 2\n");
	assert_contains(&text, "\nmuster_pass_seconds_bucket" LABELS ",le=\"+Inf\"} 3\n");
	assert_contains(&text, "\nmuster_pass_seconds_sum" LABELS "} 20.002001\n");
	assert_contains(&text, "\nmuster_pass_seconds_count" LABELS "} 3\n");
}

TEST(events_of_tfjobs_are_counted_by_namespace)
{
	struct metrics_jobs jobs = {0};
	const struct metrics_operator now = {.n_jobs = 3, .n_queued = 1, .n_errors = 7};
	const struct metrics_passes passes = {0};
	struct text text CLEANUP(text_done) = {0};

	metrics_count_job(&jobs, "ada", METRICS_JOB_CREATED);
	metrics_count_job(&jobs, "ada", METRICS_JOB_CREATED);
	metrics_count_job(&jobs, "eve", METRICS_JOB_FAILED);
	metrics_write_jobs(&jobs, &now, &passes, &text);
	assert_contains(&text, "\ntraining_operator_jobs_created_total{job_namespace=\"ada\","
			       "framework=\"tensorflow\"} 2\n");
	assert_contains(&text, "\ntraining_operator_jobs_failed_total{job_namespace=\"eve\","
			       "framework=\"tensorflow\"} 1\n");
	assert_contains(&text, "\ntraining_operator_jobs_failed_total{job_namespace=\"ada\","
			       "framework=\"tensorflow\"} 0\n");
	assert_contains(&text, "\nmuster_operator_jobs 3\n");
	assert_contains(&text, "\nmuster_operator_queue_length 1\n");
	assert_contains(&text, "\nmuster_operator_errors_total 7\n");
	assert_contains(&text, "\nmuster_pass_seconds_bucket{le=\"+Inf\"} 0\n");
	metrics_jobs_done(&jobs);
}

TEST(restarts_are_counted_by_a_few_words)
{
	struct metrics_jobs jobs = {0};
	const struct metrics_operator now = {0};
	const struct metrics_passes passes = {0};
	struct text text CLEANUP(text_done) = {0};

	metrics_count_restarts(&jobs, "OOMKilled", 2);
	metrics_count_restarts(&jobs, "OOMKilled", 1);
	metrics_count_restarts(&jobs, "\"} 1\nup 0", 1);
	metrics_count_restarts(&jobs, NULL, 1);
	for (int i = 0; i < 2 * METRICS_REASONS; i++) {
		char word[32];

		snprintf(word, sizeof(word), "Reason%d", i);
		metrics_count_restarts(&jobs, word, 1);
	}
	metrics_write_jobs(&jobs, &now, &passes, &text);
	assert_contains(&text, "\nmuster_operator_restarts_total{reason=\"OOMKilled\"} 3\n");
	assert_contains(&text, "\nmuster_operator_restarts_total{reason=\"Other\"} 36\n");
	assert_int_equal(jobs.reasons.count, METRICS_REASONS);
	metrics_jobs_done(&jobs);
}
