#include "cli/foreign_words.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <string.h>

#define STARTS "run|render"
#define WRITE_WORKERS "write -w N for the number of workers"
#define WRITE_PS "write --ps N for the number of parameter servers"
#define TOLD_ADDRESSES                                                                             \
	"it is not needed: every process is told the addresses of all, in TF_CONFIG and variables"
#define WRITE_GRACE "write --grace 10s for the time between TERM and KILL"
#define WHOLE_FOLDERS "it is not needed: a folder is copied with all that is in it"

/* Of one command first, then of all. */
static const struct foreign_option foreign_options[] = {
	{STARTS "|check", "-n", WRITE_WORKERS, true, true},
	{STARTS "|check",
	 "-np|--np|-N|-c|--nnodes|--nodes|--nproc|--nproc-per-node|--npernode|--num-proc|"
	 "--num-processes|--num-procs|--ntasks|--ntasks-per-node|--num-workers|--n-workers|"
	 "--nworkers|--worker|--replicas|--scale|--parallelism|--world-size",
	 WRITE_WORKERS, true, false},
	{STARTS "|check", "--num-ps|--n-ps|--num-parameter-servers|--parameter-servers", WRITE_PS,
	 true, false},
	{STARTS,
	 "--master-addr|--master-port|--rdzv-id|--rdzv-endpoint|--rdzv-backend|--rdzv-conf|"
	 "--node-rank|--rank|--local-addr|--ps-hosts|--worker-hosts",
	 TOLD_ADDRESSES, true, false},
	{STARTS, "--standalone", TOLD_ADDRESSES, false, false},
	{STARTS, "-H|--host|--hosts|--hostfile|--machinefile|--nodelist",
	 "processes run on this machine; --on kubernetes runs them on a cluster", true, false},
	{STARTS, "-u", "it is not needed: a script runs without buffers", false, false},
	{STARTS, "-J|--job-name|--project-name", "write --name NAME for the name of the job", true,
	 false},
	{STARTS, "-t|--time|--time-limit|--walltime|--active-deadline-seconds",
	 "write --timeout 30m for the longest time that the job may take", true, false},
	{STARTS, "-s|--signal|--kill-signal",
	 "write --stop-signal SIGNAL for the one that asks the processes to end", true, false},
	{STARTS, "-k|--kill-after|--grace-period|--stop-timeout", WRITE_GRACE, true, false},
	{STARTS, "--restart|--restarts|--requeue|--backoff-limit|--max-retries|--retries",
	 "write --max-restarts N for the number of restarts", true, false},
	{STARTS, "-x|--export|--genv|--setenv", "write -e NAME=VALUE for a variable", true, false},
	{STARTS, "--mem|--mem-per-cpu", "write --memory 4Gi for the memory of each Pod", true,
	 false},
	{STARTS, "--cpus|--cpus-per-task|--cpus-per-gpu",
	 "write --cpu N for the cores of each replica", true, false},
	{STARTS, "-G|--gpus|--gres|--gpus-per-node|--gpus-per-task",
	 "write --gpu N for the GPUs of each Pod", true, false},
	{STARTS, "--verbose", "write -v to see what muster does", false, false},
	{STARTS, "--mount", "write --volume CLAIM:/PATH for a PersistentVolumeClaim", false, false},
	{STARTS, "--publish|--port", "write 'muster port-forward JOB' when the job runs", true,
	 false},
	{STARTS, "-l|--labels|--label",
	 "write labels into the metadata of a file, and run -f job.yaml", true, false},
	{STARTS, "--rm", "jobs are kept with their logs until 'muster delete JOB'", false, false},
	{STARTS, "-i|-it|-ti|--interactive|--tty|--stdin",
	 "the processes of a job have no terminal; their lines are shown", false, false},
	{STARTS, "--background|--detached|--no-wait|--bg", "write -d to leave it in the background",
	 false, false},

	{"logs", "-n", "write --tail N for the last N lines", true, true},
	{"logs", "-l|--lines|-N", "write --tail N for the last N lines", true, false},
	{"logs", "--since-time", "write --since TIME", true, false},
	{"logs", "-r|--rank|--replica|--pod|--container|-c",
	 "write the replica behind the job: muster logs JOB worker-0", true, false},
	{"logs", "-F", "write -f to go on as the job prints", false, false},
	{"logs", "-g", "write --grep RE", true, false},
	{"logs", "--no-log-prefix", "write --no-prefix", false, false},
	{"logs", "--no-color", "write --color never", false, false},
	{"logs", "--all-containers|--all-pods|--ignore-errors|--merged|--merge",
	 "it is not needed: all replicas are shown", false, false},

	{"ps", "-q|--quiet", "write -o name for the names alone", false, false},
	{"ps", "", "'muster status JOB' shows one job", false, false},
	{"ps|status", "--format|--template", "write -o json", true, false},
	{"ps|status", "--json|-j", "write -o json", false, false},
	{"ps", "--filter|--selector|-l|--field-selector", "write -o json, and choose with jq", true,
	 false},
	{"ps", "-f|--follow", "write -w to see every change, -o wide for more columns", false,
	 false},
	{"status", "-f|--follow", "write -w to see every change", false, false},

	{"stop|delete", "-t|--time|--timeout|--grace-period", WRITE_GRACE, true, false},
	{"stop", "-f|-9|--force|--kill", "write --now to kill at once", false, false},
	{"stop", "-s|--signal", "write run --stop-signal SIGNAL when the job is started", true,
	 false},
	{"delete", "-f|--force|-v|--volumes",
	 "it is not needed: a job that runs is ended first, and then forgotten with its logs",
	 false, false},
	{"delete", "-a|--all", "write --all-finished for all jobs that have ended", false, false},

	{"wait", "-t|--time", "write --timeout 10m", true, false},
	{"wait", "--for", "it waits for the end of the job; 'muster status -w' shows every change",
	 true, false},
	{"scale", "-w|--workers|--replicas|--worker|-n", "write worker=N behind the job", true,
	 false},
	{"scale", "--ps", "write ps=N behind the job", true, false},
	{"cp|fetch", "-r|-R|-a|--recursive", WHOLE_FOLDERS, false, false},
	{"tensorboard", "--bind-all", "write --host 0.0.0.0", false, false},
	{"tensorboard", "-p", "write --port N", true, false},

	{NULL, "-n", "a namespace that is called so is --namespace N", true, true},
	{NULL, "-V|--version", "write 'muster version'", false, false},
	{NULL, "--cluster|--kube-context", "write --context CONTEXT", true, false},
};

static const struct foreign_command {
	const char *words;
	const char *meant;
} foreign_commands[] = {
	{"list|ls|jobs|get|squeue|qstat|sacct|bjobs", "ps"},
	{"rm|remove|del|forget|purge|prune|clean", "delete"},
	{"kill|cancel|scancel|qdel|bkill|end|abort|terminate|down|int|interrupt", "stop"},
	{"start|up|create|launch|train|sbatch|srun|qsub|bsub|torchrun|mpirun|horovodrun|"
	 "apply|new|python|python3",
	 "run"},
	{"process|template|manifest", "render"},
	{"describe|show|inspect|info|state|events|scontrol", "status"},
	{"log|tail|output|follow", "logs"},
	{"top|stats|watch|monitor|htop", "ps -w"},
	{"pause|hold|freeze", "suspend"},
	{"unpause|continue|release|unsuspend|restart", "resume"},
	{"resize|autoscale", "scale"},
	{"copy|scp|upload|rsync", "cp"},
	{"download|pull", "fetch"},
	{"config|yaml|template|generate|export|convert|manifest|dry-run", "render"},
	{"forward|portforward|proxy|tunnel|port", "port-forward"},
	{"board|tb|curves", "tensorboard"},
	{"test|verify|try|benchmark", "check"},
	{"diagnose|diag|health", "doctor"},
	{"reattach|connect", "attach"},
	{"shell|ssh|sh|bash|rsh", "exec"},
	{"devices|ping", "probe"},
	{"serve|grpc-server", "server"},
	{"-v|ver", "version"},
	{"usage|man|commands|-?", "help"},
};

static char as_dash(char byte)
{
	return byte == '_' ? '-' : byte;
}

/* Whether the words, separated by '|', have this one: the first `len` characters of `word`. */
static bool has_word(const char *words, const char *word, size_t len)
{
	for (const char *end;; words = end + 1) {
		size_t at = 0;

		end = words + strcspn(words, "|");
		while (at < len && words + at < end && as_dash(word[at]) == words[at])
			at++;
		if (at == len && words + at == end)
			return true;
		if (!*end)
			return false;
	}
}

static bool is_whole_number(const char *text)
{
	int64_t number;

	return text && text_read_int(text, 0, INT64_MAX, &number, NULL) == 0;
}

static const struct foreign_option *find(const char *command, const char *word, size_t len,
					 bool is_number)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign_options); i++) {
		const struct foreign_option *option = &foreign_options[i];

		if ((!option->commands || has_word(option->commands, command, strlen(command))) &&
		    option->is_number == is_number && has_word(option->words, word, len))
			return option;
	}
	return NULL;
}

const struct foreign_option *foreign_option_find(const char *command, const char *word, size_t len)
{
	return find(command, word, len, false);
}

const struct foreign_option *foreign_number_find(const char *command, const char *letter,
						 const char *value)
{
	return is_whole_number(value) ? find(command, letter, strlen(letter), true) : NULL;
}

const char *foreign_argument_answer(const char *command)
{
	const struct foreign_option *option = foreign_option_find(command, "", 0);

	return option ? option->answer : NULL;
}

char *foreign_command_meant(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign_commands); i++)
		if (has_word(foreign_commands[i].words, word, strlen(word)))
			return mem_copy_text(foreign_commands[i].meant);
	if (text_ends_with(word, ".py") || text_ends_with(word, ".pyz"))
		return mem_format("run %s", word);
	if (text_ends_with(word, ".yaml") || text_ends_with(word, ".yml") ||
	    text_ends_with(word, ".json"))
		return mem_format("run -f %s", word);
	return NULL;
}
