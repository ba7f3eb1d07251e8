/* Why a server rejects an object, and whether it may accept it later.
 *
 * Sources: apimachinery's status errors; apiserver's plugin/admission (resourcequota, limitranger,
 * podsecurity, namespace/lifecycle, serviceaccount) for the words of each. */
#pragma once

enum kube_refusal {
	KUBE_NOT_REFUSED, /* it was created, or no answer came, or a server error */
	KUBE_REFUSED_RIGHT, /* by the authorizer: an RBAC rule is missing */
	KUBE_REFUSED_QUOTA, /* until an object is deleted or the quota is raised */
	KUBE_REFUSED_FOR_NOW, /* for another temporary reason */
	KUBE_REFUSED_FOR_EVER, /* permanently: the object is invalid, admission rejects it, or its
				  namespace is deleted or terminating */
};

/* Classifies the code and message of a Status; `message` is not NULL. */
enum kube_refusal kube_refusal_of(int http_code, const char *message);

/* The server's part of the text of such an error (kube/status.h). */
const char *kube_refusal_said(const char *sentence);
/* The part of the text of such an error (kube/status.h) that does not name the object, so that one
 * message can cover many objects. */
const char *kube_refusal_why(const char *sentence);
