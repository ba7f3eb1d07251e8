#include "kube/pod_labels.h"

#include "base/text.h"
#include "kube/objects.h"

static const char *label_text_of(const struct json *object, const char *key)
{
	return json_as_string(json_get(object, key), NULL);
}

bool pod_labels_are_of_tfjob(const struct json *metadata)
{
	return text_equals(label_text_of(json_get(metadata, "labels"), KUBEFLOW_LABEL_OPERATOR),
			   KUBEFLOW_OPERATOR);
}

struct pod_labels pod_labels_of(const struct json *metadata)
{
	const struct json *labels = json_get(metadata, "labels");
	const struct json *annotations = json_get(metadata, "annotations");

	if (!pod_labels_are_of_tfjob(metadata))
		return (struct pod_labels){
			.job = label_text_of(labels, OBJECTS_LABEL_JOB),
			.role = label_text_of(labels, OBJECTS_LABEL_ROLE),
			.index = label_text_of(labels, OBJECTS_LABEL_INDEX),
			.attempt = label_text_of(labels, OBJECTS_LABEL_ATTEMPT),
		};
	return (struct pod_labels){
		.job = label_text_of(labels, KUBEFLOW_LABEL_JOB),
		.role = label_text_of(labels, KUBEFLOW_LABEL_ROLE),
		.index = label_text_of(labels, KUBEFLOW_LABEL_INDEX),
		.attempt = json_as_string(json_get(annotations, POD_ANNOTATION_ATTEMPT), "0"),
	};
}

const char *pod_labels_job(const struct json *metadata)
{
	return pod_labels_of(metadata).job;
}
