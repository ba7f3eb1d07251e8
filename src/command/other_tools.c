#include "command/other_tools.h"

#include "base/mem.h"
#include "base/text.h"

#define STARTS "run|render"
#define WRITE_WORKERS "use -w N for the number of workers"
#define WRITE_MACHINES                                                                             \
	"use -w N for the number of workers on this machine; to train on several machines: "       \
	"'muster launch', or --on kubernetes"
#define WRITE_PS "use --ps N for the number of parameter servers"
#define TOLD_ADDRESSES                                                                             \
	"not needed: muster gives every process the addresses of all others, in TF_CONFIG and "    \
	"variables (torchrun's command line is that of 'muster launch')"
#define WRITE_GRACE "use --grace 10s for the time between SIGTERM and SIGKILL"
#define WHOLE_FOLDERS "not needed: directories are always copied recursively"

/* Those of one command first, then those of all. */
static const struct other_tool_option foreign_options[] = {
	{STARTS "|check", "-n", WRITE_WORKERS, true, true},
	{STARTS,
	 "--nnodes|--nodes|--node-rank|-H|--host|--hosts|--hostfile|--machinefile|--nodelist",
	 WRITE_MACHINES, true, false},
	{STARTS "|check",
	 "-np|--np|-N|--nnodes|--nodes|--nproc|--nproc-per-node|--npernode|--num-proc|"
	 "--num-processes|--num-procs|--ntasks|--ntasks-per-node|--num-workers|--n-workers|"
	 "--nworkers|--worker|--replicas|--scale|--parallelism|--world-size|--devices",
	 WRITE_WORKERS, true, false},
	{STARTS "|check", "--num-ps|--n-ps|--num-parameter-servers|--parameter-servers", WRITE_PS,
	 true, false},
	{STARTS,
	 "--master-addr|--master-port|--rdzv-id|--rdzv-endpoint|--rdzv-backend|--rdzv-conf|"
	 "--rank|--local-addr|--ps-hosts|--worker-hosts|--main-process-ip|"
	 "--main-process-port|--machine-rank",
	 TOLD_ADDRESSES, true, false},
	{STARTS, "--standalone|--multi-gpu", TOLD_ADDRESSES, false, false},
	{STARTS, "--no-python", "write -- before a program: muster run -- PROGRAM", false, false},
	{STARTS, "--local-ranks-filter", "use --only ROLE-INDEX for the output of some", true,
	 false},
	{STARTS, "--role|--start-method|--monitor-interval|--redirects|--tee|--strategy",
	 "not needed: muster run starts one process for each worker, and keeps the output of each",
	 true, false},
	{STARTS, "--mail-type|--mail-user", "use --notify COMMAND for the end of the job", true,
	 false},
	{STARTS, "-a|--array", "start a job for each element, with -d and --wait-for-gpu", true,
	 false},
	{STARTS, "--begin", "muster starts jobs at once: sleep 1h && muster run ...", true, false},
	{STARTS, "--exclusive", "use --wait-for-gpu: no two jobs get the same GPU", false, false},
	{STARTS, "--network|--ipc|--shm-size|--entrypoint|--runtime",
	 "not needed: processes of this machine are in no container", true, false},
	{STARTS, "-u", "not needed: Python runs unbuffered", false, false},
	{STARTS, "-J|--job-name|--project-name", "use --name NAME for the name of the job", true,
	 false},
	{STARTS, "-t|--time|--time-limit|--walltime|--active-deadline-seconds",
	 "use --timeout 30m for the time limit of the job", true, false},
	{STARTS, "-s|--signal|--kill-signal",
	 "use --stop-signal SIGNAL for the signal that stops the processes", true, false},
	{STARTS, "-k|--kill-after|--grace-period|--stop-timeout", WRITE_GRACE, true, false},
	{STARTS, "--restart|--restarts|--requeue|--backoff-limit|--max-retries|--retries|--retry",
	 "use --max-restarts N for the number of restarts", true, false},
	{STARTS, "-x|--export|--genv|--setenv", "use -e NAME=VALUE for a variable", true, false},
	{STARTS, "--mem|--mem-per-cpu", "use --memory 4Gi for the memory of each Pod", true, false},
	{STARTS, "-c|--cpus|--cpus-per-task|--cpus-per-gpu",
	 "use --cpu N for the cores of each replica", true, false},
	{STARTS, "-G|--gpus|--gres|--gpus-per-node|--gpus-per-task",
	 "use --gpu N, or --gpu all, for the GPUs of each replica", true, false},
	{STARTS, "--log-dir|--logs-dir|--output-filename|--output-file|--error|--log-file",
	 "use --output-dir DIR for a file of each replica's output", true, false},
	{"launch", "--logs-dir|--output-filename|--output-file|--error|--log-file",
	 "use --output-dir DIR for a file of each process's output", true, false},
	{STARTS, "--cwd|--chdir|--workdir|--working-dir|-D",
	 "processes start in the current directory: cd DIR, then muster run", true, false},
	{STARTS, "--user|--uid", "processes have your user; of Pods, set it in a TFJob file", true,
	 false},
	{"run", "--depend|--dependency|--after-ok",
	 "use --after JOB, which waits until that job has succeeded", true, false},
	{"run", "--queue|--partition|--wait-for-gpus|--wait-gpu",
	 "use --wait-for-gpu, which waits until the GPUs of the job are free", true, false},
	{"launch", "--after|--depend|--dependency|--queue|--partition",
	 "muster has no queue for it: muster wait JOB && muster launch ...", true, false},
	{"launch", "-np|--np|--num-processes|--num-workers|--workers|-w",
	 "use --nproc-per-node N for the processes of this machine", true, false},
	{"launch", "--num-machines|--nodes|-N", "use --nnodes N for the number of machines", true,
	 false},
	{"launch", "--machine-rank", "use --node-rank N for the rank of this machine", true, false},
	{"launch", "--main-process-ip", "use --master-addr HOST", true, false},
	{"launch", "--main-process-port", "use --master-port PORT", true, false},
	{STARTS, "--verbose", "use -v to see what muster does", false, false},
	{STARTS, "--mount", "use --volume CLAIM:/PATH for a PersistentVolumeClaim", false, false},
	{STARTS, "--publish|--port", "use 'muster port-forward JOB' while the job is running", true,
	 false},
	{STARTS, "-l|--labels|--label",
	 "set labels in the metadata of a TFJob file, and run -f job.yaml", true, false},
	{"render", "--rm", "not needed: render starts no job", false, false},
	{STARTS, "-i|-it|-ti|--interactive",
	 "use --stdin worker-0 to pass what you type to worker-0, --tty for terminals", false,
	 false},
	{STARTS, "--background|--detached|--no-wait|--bg", "use -d to run in the background", false,
	 false},

	{"logs", "-n", "use --tail N for the last N lines", true, true},
	{"logs", "-l|--lines|-N", "use --tail N for the last N lines", true, false},
	{"logs", "--since-time", "use --since TIME", true, false},
	{"logs", "-r|--rank|--replica|--pod|--container|-c",
	 "write the replica after the job: muster logs JOB worker-0", true, false},
	{"logs", "-F", "use -f to follow the output", false, false},
	{"logs", "-g", "use --grep RE", true, false},
	{"logs|run|attach", "--no-log-prefix", "use --no-prefix", false, false},
	{"logs", "--no-color", "use --color never", false, false},
	{"logs", "--all-containers|--all-pods|--ignore-errors|--merged|--merge",
	 "not needed: the output of all replicas is printed", false, false},

	{"ps", "-n", "use --last N for the newest jobs", true, true},
	{"ps", "-q|--quiet", "use -o name to print only names", false, false},
	{"ps", "", "to show one job: 'muster status JOB'", false, false},
	{"probe", "", "name servers with --servers grpc://HOST:PORT", false, false},
	{"ps|status", "--format|--template", "write -o json", true, false},
	{"ps|status", "--json|-j", "write -o json", false, false},
	{"ps", "-l|--latest", "use -a --last 1 for the newest job", false, false},
	{"ps", "--filter|--selector|--field-selector", "use -o json, and filter with jq", true,
	 false},
	{"ps", "-f|--follow", "use -w to see every change, -o wide for more columns", false, false},
	{"status", "-f|--follow", "use -w to see every change", false, false},

	{"stop|delete", "-t|--time|--timeout|--grace-period", WRITE_GRACE, true, false},
	{"stop", "-a|--all", "name the jobs: muster stop $(muster ps -o name)", false, false},
	{"stop", "-f|-9|--force|--kill", "use --now to kill immediately", false, false},
	{"stop", "-s|--signal", "use run --stop-signal SIGNAL when you start the job", true, false},
	{"delete", "-f|--force|-v|--volumes",
	 "not needed: delete stops a running job first, then deletes it and its logs", false,
	 false},
	{"delete", "-a|--all", "use --all-finished for all finished jobs", false, false},

	{"wait", "-t|--time", "write --timeout 10m", true, false},
	{"wait", "--for", "wait ends when the job ends; to see every change: 'muster status -w'",
	 true, false},
	{"scale", "-w|--workers|--replicas|--worker|-n", "write worker=N after the job", true,
	 false},
	{"scale", "--ps", "write ps=N after the job", true, false},
	{"cp|fetch", "-r|-R|-a|--recursive", WHOLE_FOLDERS, false, false},
	{"tensorboard", "--bind-all", "write --host 0.0.0.0", false, false},
	{"tensorboard", "-p", "write --port N", true, false},

	{NULL, "-n", "for a namespace of that name, use --namespace N", true, true},
	{NULL, "-V|--version", "use 'muster version'", false, false},
	{NULL, "--cluster|--kube-context", "use --context CONTEXT", true, false},
};

static const struct foreign_command {
	const char *words;
	const char *meant;
} foreign_commands[] = {
	{"list|ls|jobs|get|squeue|qstat|sacct|bjobs", "ps"},
	{"rm|remove|del|forget|purge|prune|clean", "delete"},
	{"kill|cancel|scancel|qdel|bkill|end|abort|terminate|down|int|interrupt", "stop"},
	{"start|up|create|launch|train|sbatch|srun|qsub|bsub|mpirun|horovodrun|"
	 "apply|new|python|python3",
	 "run"},
	{"torchrun", "launch"},
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

bool other_tool_has_word(const char *words, const char *word, size_t len)
{
	for (const char *end;; words = end + 1) {
		size_t at = 0;

		end = words + strcspn(words, "|");
		while (at < len && words + at < end &&
		       (word[at] == '_' ? '-' : word[at]) == words[at])
			at++;
		if (at == len && words + at == end)
			return true;
		if (!*end)
			return false;
	}
}

static const struct other_tool_option *find_foreign_option(const char *command, const char *word,
							   size_t len, bool is_number)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign_options); i++) {
		const struct other_tool_option *option = &foreign_options[i];

		if ((!option->commands ||
		     other_tool_has_word(option->commands, command, strlen(command))) &&
		    option->is_number == is_number && other_tool_has_word(option->words, word, len))
			return option;
	}
	return NULL;
}

const struct other_tool_option *other_tool_option_find(const char *command, const char *word,
						       size_t len)
{
	return find_foreign_option(command, word, len, false);
}

const struct other_tool_option *other_tool_number_find(const char *command, const char *letter,
						       const char *value)
{
	int64_t number;
	bool is_number = text_read_int(value, 0, INT64_MAX, &number, NULL) == 0;

	return is_number ? find_foreign_option(command, letter, strlen(letter), true) : NULL;
}

const char *other_tool_argument_answer(const char *command)
{
	const struct other_tool_option *option = other_tool_option_find(command, "", 0);

	return option ? option->answer : NULL;
}

char *other_tool_command_meant(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign_commands); i++)
		if (other_tool_has_word(foreign_commands[i].words, word, strlen(word)))
			return mem_copy_text(foreign_commands[i].meant);
	if (text_ends_with(word, ".py") || text_ends_with(word, ".pyz"))
		return mem_format("run %s", word);
	if (text_ends_with(word, ".yaml") || text_ends_with(word, ".yml") ||
	    text_ends_with(word, ".json"))
		return mem_format("run -f %s", word);
	return NULL;
}
