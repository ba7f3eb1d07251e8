/* What the Pods of a job may do beyond computing. */
#include "unit.h"

#include "base/json.h"
#include "base/mem.h"
#include "spec/pod_security.h"

/* A job of one worker whose template says this too. */
static struct job *job_with(const char *template_text)
{
	static const char text[] =
		"{\"apiVersion\":\"kubeflow.org/"
		"v1\",\"kind\":\"TFJob\",\"metadata\":{\"name\":\"j\"},"
		"\"spec\":{\"tfReplicaSpecs\":{\"Worker\":{\"template\":{\"spec\":{\"containers\":["
		"{\"name\":\"tensorflow\",\"image\":\"i\"}]}}}}}}";
	struct faults faults CLEANUP(faults_done) = {0};
	struct json *root CLEANUP(json_cleanup) = NULL;
	struct json *patch CLEANUP(json_cleanup) = NULL;
	struct job *job = NULL;

	assert_int_equal(json_read(text, strlen(text), &root, NULL), 0);
	assert_int_equal(json_read(template_text, strlen(template_text), &patch, NULL), 0);
	struct json *worker = json_get_path(root, "spec", "tfReplicaSpecs", "Worker", NULL);
	json_set(worker, "template", json_patched(json_get(worker, "template"), patch));
	assert_int_equal(job_read(root, NULL, JOB_LENIENT, &faults, &job), 0);
	return job;
}

static void check(const char *template_text, const char *wanted)
{
	struct job *job CLEANUP(job_cleanup) = job_with(template_text);
	struct text lines CLEANUP(text_done) = {0};

	pod_privileges_describe(job, &lines);
	if (strcmp(text_of(&lines), wanted) != 0)
		fail_msg("%s: \"%s\" is not \"%s\"", template_text, text_of(&lines), wanted);
}

#define SPEC(members) "{\"spec\":{" members "}}"
#define CONTAINER(members)                                                                         \
	SPEC("\"containers\":[{\"name\":\"tensorflow\",\"image\":\"i\"," members "}]")
#define CONTEXT(members) CONTAINER("\"securityContext\":{" members "}")
#define VOLUME(members) SPEC("\"volumes\":[{\"name\":\"v\"," members "}]")

TEST(a_plain_template_reaches_nowhere)
{
	static const char *const plain[] = {
		"{}",
		SPEC("\"hostNetwork\":false,\"serviceAccountName\":\"default\","
		     "\"automountServiceAccountToken\":false"),
		CONTEXT("\"runAsUser\":0,\"procMount\":\"Default\",\"seccompProfile\":{\"type\":"
			"\"RuntimeDefault\"},"
			"\"seLinuxOptions\":{\"type\":\"container_t\"},\"capabilities\":{\"add\":["
			"\"CHOWN\"],\"drop\":[\"ALL\"]}"),
		CONTAINER("\"ports\":[{\"containerPort\":80}]"),
		CONTAINER("\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"j."
			  "env\",\"key\":\"A\"}}}]"),
		VOLUME("\"emptyDir\":{}"),
		VOLUME("\"configMap\":{\"name\":\"j.files-0\"}"),
		VOLUME("\"projected\":{\"sources\":[{\"configMap\":{\"name\":\"j.files-0\"}}]}"),
	};

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		check(plain[i], "");
}

TEST(what_goes_beyond_is_named)
{
	static const struct {
		const char *template_text, *lines;
	} rows[] = {
		{SPEC("\"hostNetwork\":true,\"hostPID\":true,\"hostIPC\":true"),
		 "hostNetwork\nhostPID\nhostIPC\n"},
		{SPEC("\"serviceAccountName\":\"admin-sa\""), "service account admin-sa\n"},
		{SPEC("\"serviceAccount\":\"admin-sa\""), "service account admin-sa\n"},
		{SPEC("\"automountServiceAccountToken\":true"), "automountServiceAccountToken\n"},
		{SPEC("\"nodeName\":\"n1\""), "node n1\n"},
		{SPEC("\"securityContext\":{\"sysctls\":[{\"name\":\"kernel.shm_rmid_forced\","
		      "\"value\":\"1\"}]}"),
		 "sysctl kernel.shm_rmid_forced\n"},
		{CONTEXT("\"privileged\":true"), "privileged\n"},
		{CONTEXT("\"procMount\":\"Unmasked\""), "procMount Unmasked\n"},
		{CONTEXT("\"capabilities\":{\"add\":[\"CHOWN\",\"SYS_ADMIN\"]}"),
		 "capability SYS_ADMIN\n"},
		{CONTEXT("\"seccompProfile\":{\"type\":\"Unconfined\"},\"appArmorProfile\":{"
			 "\"type\":\"Unconfined\"}"),
		 "seccompProfile Unconfined\nappArmorProfile Unconfined\n"},
		{CONTEXT("\"seLinuxOptions\":{\"type\":\"spc_t\"}"), "seLinuxOptions\n"},
		{CONTEXT("\"seLinuxOptions\":{\"user\":\"u\"}"), "seLinuxOptions\n"},
		{CONTEXT("\"windowsOptions\":{\"hostProcess\":true}"), "hostProcess\n"},
		{"{\"metadata\":{\"annotations\":{\"container.apparmor.security.beta.kubernetes.io/"
		 "tensorflow\":\"unconfined\"}}}",
		 "appArmorProfile Unconfined\n"},
		{SPEC("\"initContainers\":[{\"name\":\"a\",\"securityContext\":{\"privileged\":"
		      "true}}]"),
		 "privileged\n"},
		{SPEC("\"ephemeralContainers\":[{\"name\":\"a\",\"securityContext\":{"
		      "\"privileged\":true}}]"),
		 "privileged\n"},
		{CONTAINER("\"ports\":[{\"containerPort\":80,\"hostPort\":80}]"), "hostPort\n"},
		{CONTAINER("\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":"
			   "\"s\",\"key\":\"A\"}}}]"),
		 "Secret s\n"},
		{CONTAINER("\"envFrom\":[{\"secretRef\":{\"name\":\"s\"}}]"), "Secret s\n"},
		{VOLUME("\"secret\":{\"secretName\":\"s\"}"), "Secret s\n"},
		{VOLUME("\"projected\":{\"sources\":[{\"secret\":{\"name\":\"s\"}},{"
			"\"serviceAccountToken\":{\"path\":\"t\"}}]}"),
		 "Secret s\nserviceAccountToken\n"},
		{VOLUME("\"persistentVolumeClaim\":{\"claimName\":\"data\"}"),
		 "PersistentVolumeClaim data\n"},
		{VOLUME("\"hostPath\":{\"path\":\"/\"}"), "hostPath /\n"},
		{VOLUME("\"nfs\":{\"server\":\"s\",\"path\":\"/\"}"), "volume nfs\n"},
		{VOLUME("\"ephemeral\":{\"volumeClaimTemplate\":{\"spec\":{\"dataSource\":{"
			"\"kind\":\"PersistentVolumeClaim\",\"name\":\"data\"}}}}"),
		 "volume ephemeral\n"},
		{CONTAINER("\"volumeDevices\":[{\"name\":\"v\"}]"), "volumeDevices\n"},
		{CONTAINER("\"livenessProbe\":{\"httpGet\":{\"host\":\"169.254.169.254\"}},"
			   "\"lifecycle\":{\"preStop\":{\"tcpSocket\":{\"host\":\"h\"}}}"),
		 "probe of host 169.254.169.254\nprobe of host h\n"},
		{CONTEXT("\"newOne\":1"), "newOne\n"},
		{SPEC("\"priorityClassName\":\"high\",\"resourceClaims\":[{\"name\":\"c\"}],"
		      "\"newOne\":null"),
		 "priorityClassName\nresourceClaims\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check(rows[i].template_text, rows[i].lines);
}
