/* Every limit on input from outside, in one place. */
#pragma once

#include "base/yaml.h"

#define LIMIT_DOCUMENT_SIZE                                                                        \
	YAML_SIZE_LIMIT /* a job file; etcd itself rejects objects above 1.5 MiB */
#define LIMIT_REPLICAS 10000 /* replicas of one job, all roles together */
#define LIMIT_MEMBERS 10000 /* agents of one elastic job, spares too */
#define LIMIT_PROCESSES 1024 /* of one such agent */
#define LIMIT_HOST 253 /* bytes of the name of a host (RFC 1035, 2.3.4) */
#define LIMIT_VARIABLE (128 * 1024) /* bytes of NAME=VALUE and a NUL: MAX_ARG_STRLEN of Linux */
#define LIMIT_WORLD_ADDRESSES                                                                      \
	(LIMIT_VARIABLE - 128) /* bytes of all processes of an elastic job in TF_CONFIG */
#define LIMIT_MEMBER_CALL (96 * 1024) /* bytes that it sends to its server */
#define LIMIT_MEMBER_ANSWER                                                                        \
	(5 * 512 * 1024) /* bytes of the server's answer to it: the largest world, and a failure.  \
			    In memory, JSON may take fifty times its size */
#define LIMIT_ELASTIC_JOBS 1000 /* of one server */
#define LIMIT_WORLD_HISTORY 100 /* worlds of such a job that are reported */
#define LIMIT_ROLES 16 /* roles of one job */
#define LIMIT_CONTAINERS 32 /* containers of one Pod template */
#define LIMIT_TEMPLATE_VALUES                                                                      \
	10000 /* JSON values of one Pod template: in memory each is up to 90 times what it is as   \
		 text, and one operator keeps those of all jobs at work */
#define LIMIT_RESTARTS 1000000000 /* attempts and restarts that a status may count */
#define LIMIT_TIMED_RESTARTS 1000 /* restarts that a window may have */
#define LIMIT_STEP ((int64_t) 1 << 53) /* that a training process reports */
#define LIMIT_FAULTS 100 /* reported faults of one file */
#define LIMIT_LOG_LINE                                                                             \
	(64 * 1024) /* a longer line is shown in pieces of this size; its file keeps every byte */
#define LIMIT_WHOLE_LINE                                                                           \
	(1024 * 1024) /* the same, where others read the lines: without prefixes, or with rules    \
			 for streams */
#define LIMIT_LOG_FILE                                                                             \
	((int64_t) 1 << 30) /* the default size at which a log file is rotated, 1 GiB */
#define LIMIT_LAST_LINES 20 /* lines of the failed replica in a failure */
#define LIMIT_SEARCHED_LINES                                                                       \
	1000 /* searched for its exception: its message, or a stack, may be long */
#define LIMIT_STACKS 9 /* lines about stacks in a failure */
#define LIMIT_LAST_LINE_LENGTH 2000 /* bytes of each such line */
#define LIMIT_ENV_FILE (1024 * 1024) /* bytes of an --env-file */
#define LIMIT_CLUSTER_SPEC (1024 * 1024) /* bytes of a cluster spec or a TF_CONFIG */
#define LIMIT_CLUSTER_JOBS 100 /* jobs of a cluster spec */
#define LIMIT_TASK_INDEX 999999 /* in a sparse TF_CONFIG, whose indices have gaps */
#define LIMIT_LIST_PAGES 2000 /* of one list of an API server */
#define LIMIT_LIST_OBJECTS 200000 /* the same */
#define LIMIT_LIST_TRIES 5 /* of a list that expires on the server while it is read */
#define LIMIT_HTTP_HEADERS                                                                         \
	(16 * 1024) /* of a request to an HTTP server of ours, its first line too */
#define LIMIT_HTTP_NO_BODY 1024 /* bytes of a body that is not read */
#define LIMIT_EXPORTER_CONNECTIONS 32 /* of clients that read a job's metrics, at the same time */
#define LIMIT_FORWARDED 256 /* connections of one port-forward at the same time */
#define LIMIT_PARAMETERS 1000 /* of one template */
#define LIMIT_RANDOM_TEXT 4096 /* bytes of a value that a template generates */
#define LIMIT_TEMPLATE_SIZE (16 * 1024 * 1024) /* bytes of values inserted into a template */
#define LIMIT_PARAMETER_FILE (1024 * 1024) /* bytes of a --param-file */
