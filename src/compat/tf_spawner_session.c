#include "compat/tf_spawner_session.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/kube_cluster.h"
#include "command/output.h"
#include "kube/tf_spawner.h"

#include <stdlib.h>
#include <string.h>

const struct spawner_kind spawner_kinds[SPAWNER_COUNT] = {
	[SPAWNER_SERVICE] = {"service", &kube_services},
	[SPAWNER_CONFIG_MAP] = {"config map", &kube_config_maps},
	[SPAWNER_POD] = {"pod", &kube_pods},
};

const struct spawner_kind *spawner_kind_of(const struct json *object)
{
	for (enum spawner_kind_id id = 0; id < SPAWNER_COUNT; id++)
		if (spawner_kinds[id].resource == kube_resource_of(object))
			return &spawner_kinds[id];
	return NULL;
}

int spawner_session_open(const struct options *old, const char *tag,
			 struct spawner_session *session, struct err *err)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;

	if (kube_cluster_read_config(old, &config, err) || loop_new(&session->loop, err) ||
	    kube_api_connect(session->loop, kube_cluster_log_in, (void *) old, &session->api, err))
		return err->code;
	kube_cluster_warn(config);
	session->selector = mem_format(TF_SPAWNER_LABEL "=%s", tag);
	return 0;
}

void spawner_session_close(struct spawner_session *session)
{
	kube_api_free(session->api);
	loop_free(session->loop);
	free(session->selector);
}

struct kube_request spawner_deletion(const struct spawner_kind *kind, const char *name,
				     struct json *body)
{
	return (struct kube_request){
		.verb = KUBE_DELETE, .resource = kind->resource, .name = name, .body = body};
}

void spawner_print_removing(const struct spawner_kind *kind, const char *name)
{
	struct text text CLEANUP(text_done) = {0};

	text_add(&text, "removing '");
	line_text_add_sentence(&text, name, strlen(name));
	text_addf(&text, "' %s\n", kind->spoken);
	output_add(&text);
	output_flush();
}
