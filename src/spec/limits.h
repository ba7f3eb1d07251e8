/* Every limit on what comes from outside, in one place. */
#pragma once

#include "base/yaml.h"

#define LIMIT_DOCUMENT_SIZE                                                                        \
	YAML_SIZE_LIMIT /* a job file; etcd itself refuses objects above 1.5 MiB */
#define LIMIT_REPLICAS 10000 /* replicas of one job, all roles together */
#define LIMIT_MEMBERS 10000 /* agents of one elastic job, spares too */
#define LIMIT_OFFER (32 * 1024) /* bytes of what such an agent tells its peers */
#define LIMIT_PROCESSES 1024 /* of one such agent */
#define LIMIT_MEMBER_CALL (96 * 1024) /* bytes of what it says to its server */
#define LIMIT_MEMBER_ANSWER                                                                        \
	((size_t) LIMIT_MEMBERS * (LIMIT_OFFER + 128)) /* and of what it is answered */
#define LIMIT_ELASTIC_JOBS 1000 /* of one server */
#define LIMIT_WORLD_HISTORY 100 /* worlds of such a job that are told of */
#define LIMIT_ROLES 16 /* roles of one job */
#define LIMIT_CONTAINERS 32 /* containers of one Pod template */
#define LIMIT_TEMPLATE_VALUES                                                                      \
	10000 /* JSON values of one Pod template: in memory each is up to 90 times what it is as   \
		 text, and one operator keeps those of all jobs at work */
#define LIMIT_RESTARTS 1000000000 /* attempts and restarts that a status may count */
#define LIMIT_TIMED_RESTARTS 1000 /* restarts that a window may have */
#define LIMIT_STEP ((int64_t) 1 << 53) /* of a training, that a process reports */
#define LIMIT_FAULTS 100 /* faults told of one file */
#define LIMIT_LOG_LINE                                                                             \
	(64 * 1024) /* a longer line is shown in pieces of this size; its file keeps every byte */
#define LIMIT_LOG_FILE                                                                             \
	((int64_t) 1 << 30) /* a log file is rotated at 1 GiB unless told otherwise */
#define LIMIT_LAST_LINES 20 /* lines of the failed replica that a failure keeps */
#define LIMIT_SEARCHED_LINES                                                                       \
	1000 /* in which its exception is looked for: its message, or a stack, may be long */
#define LIMIT_STACKS 9 /* lines in which a failure says where processes were */
#define LIMIT_LAST_LINE_LENGTH 2000 /* bytes of each such line */
#define LIMIT_ENV_FILE (1024 * 1024) /* bytes of an --env-file */
#define LIMIT_CLUSTER_SPEC (1024 * 1024) /* bytes of a cluster spec or a TF_CONFIG */
#define LIMIT_CLUSTER_JOBS 100 /* jobs of a cluster spec */
#define LIMIT_TASK_INDEX 999999 /* of a sparse TF_CONFIG, whose indices have gaps */
#define LIMIT_LIST_PAGES 2000 /* of one list of an API server */
#define LIMIT_LIST_OBJECTS 200000 /* the same */
#define LIMIT_LIST_TRIES 5 /* of a list that the server forgets while it is read */
#define LIMIT_HTTP_HEADERS                                                                         \
	(16 * 1024) /* of a request to an HTTP server of ours, its first line too */
#define LIMIT_HTTP_NO_BODY 1024 /* bytes of a body where none is read */
#define LIMIT_EXPORTER_CONNECTIONS 32 /* of programs that read a job's metrics, at once */
#define LIMIT_FORWARDED 256 /* connections that one call of port-forward carries at once */
#define LIMIT_PARAMETERS 1000 /* of one template */
#define LIMIT_RANDOM_TEXT 4096 /* bytes of a value that a template generates */
#define LIMIT_TEMPLATE_SIZE (16 * 1024 * 1024) /* bytes of values that are put into a template */
#define LIMIT_PARAMETER_FILE (1024 * 1024) /* bytes of a --param-file */
