#include "unit.h"

#include "base/mem.h"
#include "spec/pod_fields.h"

struct scene {
	struct document **documents;
	size_t count;
	struct text told;
};

static void tear_down(struct scene *scene)
{
	documents_free(scene->documents, scene->count);
	text_done(&scene->told);
}

FIXTURE(struct scene, (void), tear_down)

/* What is told of a sentence to one whose file has these bytes. */
static const char *tell(void **state, const char *bytes, const char *sentence)
{
	struct scene *scene = *state;
	struct err err;

	assert_int_equal(
		documents_read(bytes, strlen(bytes), &scene->documents, &scene->count, &err), 0);
	const struct pod_file file = {"job.yaml", scene->documents[0]};

	pod_place_add(&file, 1, sentence, &scene->told);
	return text_of(&scene->told);
}

#define CONTAINERS "spec: {containers: [{name: a, imagePullPolcy: Always}]}\n"
#define FAULT "unknown field \"spec.containers[0].imagePullPolcy\""

TEST_WITH(fixture_begin, fixture_end, a_field_of_a_pod_has_its_place)
{
	assert_string_equal(tell(state, "kind: Pod\n" CONTAINERS, FAULT), FAULT " (job.yaml:2:47)");
}

TEST_WITH(fixture_begin, fixture_end, so_has_one_of_a_template_in_something)
{
	assert_string_equal(tell(state, "spec:\n  template:\n    " CONTAINERS, FAULT),
			    FAULT " (job.yaml:3:51)");
}

TEST_WITH(fixture_begin, fixture_end, and_one_of_a_template_alone)
{
	assert_string_equal(tell(state, "kind: PodTemplate\ntemplate:\n  " CONTAINERS, FAULT),
			    FAULT " (job.yaml:3:49)");
}

TEST_WITH(fixture_begin, fixture_end, all_roles_of_a_job_that_have_it_are_named)
{
	assert_string_equal(
		tell(state,
		     "spec:\n  tfReplicaSpecs:\n    PS:\n      template:\n        " CONTAINERS
		     "    Chief: {template: {spec: {containers: [{name: a}]}}}\n"
		     "    Worker:\n      template:\n        " CONTAINERS,
		     FAULT),
		FAULT " (job.yaml:5:55, job.yaml:9:55)");
}

TEST_WITH(fixture_begin, fixture_end, a_job_with_lists_has_them_too)
{
	assert_string_equal(
		tell(state, "spec:\n  replicaSpecs:\n  - template:\n      " CONTAINERS, FAULT),
		FAULT " (job.yaml:4:53)");
}

TEST_WITH(fixture_begin, fixture_end, each_field_of_a_sentence_is_looked_for)
{
	assert_string_equal(
		tell(state, "kind: Pod\nmetadata: {x: 1}\n" CONTAINERS,
		     "pods 'a' is invalid: spec.containers[0].name: no, metadata.x. End\n"),
		"pods 'a' is invalid: spec.containers[0].name (job.yaml:3:28): no, metadata.x "
		"(job.yaml:2:15). End\n");
}

TEST_WITH(fixture_begin, fixture_end, what_the_file_does_not_have_is_told_as_it_is)
{
	static const char sentence[] = "unknown field \"spec.containers[1].x\", spec.volumes, "
				       "pod.spec.containers, spec. and spec[";

	assert_string_equal(tell(state, CONTAINERS, sentence), sentence);
}
