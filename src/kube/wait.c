/* One call, one loop, one answer. */
#include "kube/wait.h"

struct wait {
	struct loop *loop;
	struct json *object;
	int rc;
	struct err err;
};

static void on_done(struct json *object, const struct kube_status *status, const struct err *err,
		    void *data)
{
	struct wait *wait = data;

	(void) status;
	if (err) {
		wait->rc = err->code;
		wait->err = *err;
	}
	if (object)
		wait->object = json_ref(object);
	loop_stop(wait->loop);
}

int kube_wait(struct loop *loop, struct kube_api *api, const struct kube_request *request,
	      struct json **ret_object, struct err *err)
{
	struct wait wait = {.loop = loop};

	/* It ends in on_done, which stops the loop. */
	kube_call_new(api, request, on_done, &wait);
	loop_run(loop);
	if (wait.rc < 0) {
		json_free(wait.object);
		return err_set(err, (enum err_code) wait.rc, "%s", wait.err.text);
	}
	if (ret_object)
		*ret_object = wait.object;
	else
		json_free(wait.object);
	return 0;
}
