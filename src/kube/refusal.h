/* Why a server refuses to make an object, and whether it may think better of it.
 *
 * Sources: apimachinery's status errors; apiserver's plugin/admission (resourcequota, limitranger,
 * podsecurity, namespace/lifecycle, serviceaccount) for the words of each. */
#pragma once

enum kube_refusal {
	KUBE_NOT_REFUSED, /* it was made; or there was no answer, or one that speaks of the server
			   */
	KUBE_REFUSED_RIGHT, /* by the authorizer: a rule is missing */
	KUBE_REFUSED_QUOTA, /* until something ends, or the quota is raised */
	KUBE_REFUSED_FOR_NOW, /* for another reason that goes away by itself */
	KUBE_REFUSED_FOR_EVER, /* no server will ever take it: it is wrong, admission is against it,
				  or its namespace is gone or going */
};

/* Of the code and message of a Status, neither NULL. */
enum kube_refusal kube_refusal_of(int http_code, const char *message);

/* The part of the sentence of such an error (kube/status.h) that is the server's. */
const char *kube_refusal_said(const char *sentence);
/* The part of the sentence of such an error (kube/status.h) that does not name the object: what
 * many are refused for can be said once. */
const char *kube_refusal_why(const char *sentence);
