#include "doctor/doctor.h"

#include "base/text.h"
#include "io/control_group.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/own_group.h"
#include "io/port.h"
#include "io/private_network.h"
#include "io/process.h"
#include "kube/config.h"
#include "kube/credential.h"
#include "kube/plugin_call.h"
#include "local/machine_gpus.h"
#include "store/store.h"
#include "tensorflow/library_find.h"
#include "tensorflow/python_find.h"

#include <ctype.h>
#include <dirent.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

/* Finds the Python that a job would get, and the frameworks among its packages, which are not
 * imported: TensorFlow takes 2 s. */

/* PEP 668: this file of the distribution says that pip must not change its Python. */
static bool is_managed(const struct python_place *python)
{
	char *bin CLEANUP(mem_free_text) = file_folder_of(python->interpreter);
	char *prefix CLEANUP(mem_free_text) = file_folder_of(bin);
	char *path CLEANUP(mem_free_text) = mem_format("%s/lib/python%s/EXTERNALLY-MANAGED", prefix,
						       python->version ? python->version : "3");

	return access(path, F_OK) == 0;
}

static void collect_python(struct doctor_facts *facts, struct arena *arena)
{
	struct python_search search = python_search_here();
	struct doctor_python *python = &facts->python;
	struct doctor_tensorflow *tensorflow = &facts->tensorflow;
	struct python_place place;
	struct err err;

	if (search.virtual_env && *search.virtual_env)
		python->virtual_env = arena_copy_text(arena, search.virtual_env);
	if (python_find(&search, arena, &place, &err)) {
		python->fault = arena_copy_text(arena, err.text);
		return;
	}
	python->interpreter = place.interpreter;
	python->version = place.version;
	python->is_virtual_env = place.is_virtual_env;
	python->is_managed = is_managed(&place);
	/* A package is installed if its modules exist; pip's metadata give its name. */
	tensorflow->folder = python_tensorflow_folder(&place);
	if (tensorflow->folder)
		(void) tensorflow_package_find(tensorflow->folder, arena, &tensorflow->package,
					       &tensorflow->version);
	tensorflow->tf_keras = python_package_version(&place, "tf-keras", arena);
	tensorflow->scikit_learn = python_package_version(&place, "scikit-learn", arena);
	facts->frameworks.torch = python_package_version(&place, "torch", arena);
	facts->frameworks.jax = python_package_version(&place, "jax", arena);
}

static void collect_library(struct doctor_library *library, struct arena *arena)
{
	struct library_search search = library_search_here(NULL);
	struct library_place place;
	struct err err;

	if (library_find(&search, arena, &place, NULL, &err)) {
		library->fault = arena_copy_text(arena, err.text);
		return;
	}
	library->path = place.path;
	library->version = place.version;
	library->origin = library_origin_words[place.origin];
}

/* Ports for jobs, the loopback, and whether this machine's name has an address. */

#define NAME_SIZE 256
#define PORTS_TRIED 32

/* Tries some ports, evenly over the range: ports in use may be neighbors. */
static void collect_ports(struct doctor_network *network, struct arena *arena)
{
	struct err err;

	if (port_range(&network->low_port, &network->high_port, &err)) {
		network->port_fault = arena_copy_text(arena, err.text);
		return;
	}
	int count = network->high_port - network->low_port + 1;
	int step = count > PORTS_TRIED ? count / PORTS_TRIED : 1;

	for (int port = network->low_port; port <= network->high_port; port += step)
		if (port_is_free(port))
			return;
	network->port_fault = arena_format(arena, "none of %d to %d can be bound",
					   network->low_port, network->high_port);
}

/* A server, and a client that connects to it. 0 or errno. */
static int try_loopback(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	int server CLEANUP(file_close) = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client CLEANUP(file_close) = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (server < 0 || client < 0 ||
	    bind(server, (const struct sockaddr *) &address, size) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, (struct sockaddr *) &address, &size) < 0 ||
	    connect(client, (const struct sockaddr *) &address, size) < 0)
		return errno;
	return 0;
}

/* Only an address of this machine can be bound. */
static bool has_own_address(const struct addrinfo *list)
{
	for (const struct addrinfo *address = list; address; address = address->ai_next) {
		int fd CLEANUP(file_close) =
			socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd >= 0 && bind(fd, address->ai_addr, address->ai_addrlen) == 0)
			return true;
	}
	return false;
}

static void collect_host_name(struct doctor_network *network, struct arena *arena)
{
	char name[NAME_SIZE] = "localhost";
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;

	/* Limits how long a name server may be silent (resolv.conf(5)). */
	setenv("RES_OPTIONS", "timeout:2 attempts:1", 0);
	gethostname(name, sizeof(name) - 1);
	network->host_name = arena_copy_text(arena, name);
	int rc = getaddrinfo(name, NULL, &hints, &list);

	if (rc)
		network->host_fault =
			arena_format(arena, "its address is not known: %s", gai_strerror(rc));
	else if (!has_own_address(list))
		network->host_fault = "its address does not belong to this machine";
	if (!rc)
		freeaddrinfo(list);
}

static void doctor_collect_network(struct doctor_network *network, struct arena *arena)
{
	struct private_network made CLEANUP(private_network_done) = PRIVATE_NETWORK_NONE;
	int failure = try_loopback();
	struct err err;

	if (failure)
		network->loopback_fault = arena_format(arena, "127.0.0.1: %s", strerror(failure));
	collect_ports(network, arena);
	collect_host_name(network, arena);
	if (private_network_create(&made, &err) < 0)
		network->private_fault = arena_copy_text(arena, err.text);
}

/* Finds the cluster by its configuration files: nothing is contacted, and no plug-in is run. */

/* Names may contain any byte, and are printed on a terminal. */
static const char *printable(struct arena *arena, const char *name)
{
	char *copy = arena_copy_text(arena, name);

	for (char *at = copy; at && *at; at++)
		if ((unsigned char) *at < ' ' || *at == '\x7f')
			*at = '?';
	return copy;
}

/* Opens it to check the files that it names; without a loop, so that nothing can be run. */
static int try_login(struct kube_config **config, struct err *err)
{
	struct kube_login *login CLEANUP(kube_login_cleanup) = NULL;
	int rc = 0;

	if (kube_user_needs_plugin(&(*config)->user))
		rc = kube_plugin_check(*config, err);
	if (rc == 0)
		rc = kube_login_open(NULL, *config, &login, err);
	if (rc == 0)
		*config = NULL; /* the login owns it now */
	return rc;
}

static void doctor_collect_kubernetes(struct doctor_kubernetes *kubernetes, struct arena *arena)
{
	const struct kube_config_search search = kube_config_search_here();
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	struct err err = {0};
	int rc = kube_config_read(&search, NULL, &config, &err);

	if (rc == ERR_UNREACHABLE)
		return; /* a kubeconfig is optional */
	if (rc == 0) {
		kubernetes->server = printable(arena, config->cluster.server);
		kubernetes->context = printable(arena, config->context);
		kubernetes->user = printable(arena, config->user.name);
		kubernetes->namespace_name = printable(arena, config->namespace_name);
		kubernetes->skips_verify = config->cluster.skips_verify;
		rc = try_login(&config, &err);
	}
	kubernetes->is_malformed = rc == ERR_INVALID;
	if (rc < 0)
		kubernetes->fault = arena_copy_text(arena, err.text);
}

/* Limits of this process and its control group, memory, the disk of the state directory, GPUs. */

#define PROBE_SIZE 4096

/* The text of a small file; "" when it cannot be read. Caller frees. */
static char *read_fact_file(const char *path)
{
	char *text = file_read_text(path);

	return text ? text : mem_copy_text("");
}

static int64_t limit_of(rlim_t value)
{
	return value == RLIM_INFINITY || value > INT64_MAX ? DOCTOR_UNKNOWN : (int64_t) value;
}

/* The number after this mark in a file. */
static int64_t read_number(const char *path, const char *mark)
{
	char *text CLEANUP(mem_free_text) = read_fact_file(path);
	const char *found = strstr(text, mark);

	return found ? strtoll(found + strlen(mark), NULL, 10) : DOCTOR_UNKNOWN;
}

static void doctor_collect_limits(struct doctor_limits *limits, struct arena *arena)
{
	struct rlimit files = {0}, processes = {.rlim_cur = RLIM_INFINITY},
		      addresses = {.rlim_cur = RLIM_INFINITY};
	int64_t available_kib = read_number("/proc/meminfo", "MemAvailable:");
	struct err err;

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_NPROC, &processes);
	getrlimit(RLIMIT_AS, &addresses);
	*limits = (struct doctor_limits){
		.is_proc_missing = process_need_proc(NULL) < 0,
		.files = limit_of(files.rlim_cur),
		.most_files = limit_of(files.rlim_max),
		/* This limit does not apply to the superuser. */
		.processes = geteuid() ? limit_of(processes.rlim_cur) : DOCTOR_UNKNOWN,
		/* "0.20 0.18 0.12 RUNNING/ALL LAST_PID" */
		.threads_in_use = read_number("/proc/loadavg", "/"),
		.group_processes_left = control_group_read(CONTROL_GROUP_PROCESSES),
		.cores = cores_real(),
		.address_space = limit_of(addresses.rlim_cur),
		.memory_available = available_kib < 0 ? DOCTOR_UNKNOWN : available_kib * 1024,
		.group_memory_left = control_group_read(CONTROL_GROUP_MEMORY),
	};
	int rc = own_group_try(&err);

	if (rc < 0)
		limits->group_fault = arena_copy_text(arena, err.text);
	limits->is_group_refused = rc == ERR_REFUSED;
}

/* The directory itself, or the nearest existing parent, in which it would be created. */
static char *find_existing(const char *path)
{
	char *folder CLEANUP(mem_free_text) = mem_copy_text(path);

	while (access(folder, F_OK) < 0 && errno == ENOENT) {
		char *slash = strrchr(folder, '/');

		if (!slash)
			return mem_copy_text(".");
		if (slash == folder)
			return mem_copy_text("/");
		*slash = '\0';
	}
	return TAKE(folder);
}

/* A file without a name, which some file systems cannot create, or a deleted one; -1 (errno). */
static int open_nameless(const char *folder)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/.muster-XXXXXX", folder);
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static void doctor_collect_state_folder(struct doctor_state_folder *folder, const char *path,
					struct arena *arena)
{
	static const char zeros[PROBE_SIZE];
	char *existing CLEANUP(mem_free_text) = find_existing(path);
	int fd CLEANUP(file_close) = open_nameless(existing);
	int failure = fd < 0 ? errno : file_write_all(fd, zeros, sizeof(zeros), NULL);
	struct statvfs space;
	struct err err = {0};

	folder->path = arena_copy_text(arena, path);
	folder->free_bytes = statvfs(existing, &space) < 0
				     ? DOCTOR_UNKNOWN
				     : (int64_t) space.f_bavail * (int64_t) space.f_frsize;
	if (store_sqlite_check(path, &err) < 0)
		folder->store_fault = arena_copy_text(arena, err.text);
	if (failure)
		folder->fault =
			arena_format(arena, "%s is not writable: %s", existing, strerror(failure));
}

/* Display controllers (PCI class 0x03) of NVIDIA (vendor 0x10de). */
static int count_devices(void)
{
	DIR *folder CLEANUP(folder_close) = opendir("/sys/bus/pci/devices");
	int count = 0;

	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		char *vendor_path CLEANUP(mem_free_text) =
			mem_format("/sys/bus/pci/devices/%s/vendor", entry->d_name);
		char *class_path CLEANUP(mem_free_text) =
			mem_format("/sys/bus/pci/devices/%s/class", entry->d_name);
		char *vendor CLEANUP(mem_free_text) = read_fact_file(vendor_path);
		char *class CLEANUP(mem_free_text) = read_fact_file(class_path);

		count += text_starts_with(vendor, "0x10de") && text_starts_with(class, "0x03");
	}
	return count;
}

/* /dev/nvidia0 and so on, without /dev/nvidiactl and similar. */
static void collect_nodes(struct doctor_gpu *gpu, struct arena *arena)
{
	static const char beginning[] = "nvidia";
	DIR *folder CLEANUP(folder_close) = opendir("/dev");

	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		const char *digits = entry->d_name + strlen(beginning);

		if (!text_starts_with(entry->d_name, beginning) ||
		    !isdigit((unsigned char) *digits))
			continue;
		char *path CLEANUP(mem_free_text) = mem_format("/dev/%s", entry->d_name);

		gpu->n_nodes++;
		if (access(path, R_OK | W_OK) < 0)
			gpu->node_fault = arena_format(arena, "%s: %s", path, strerror(errno));
	}
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 …": the first word that
 * starts with a digit and has a dot. */
static const char *read_driver(struct arena *arena)
{
	char *text CLEANUP(mem_free_text) = read_fact_file("/proc/driver/nvidia/version");
	char *rest = text;

	text[strcspn(text, "\n")] = '\0';
	for (char *word; (word = strsep(&rest, " "));)
		if (isdigit((unsigned char) *word) && strchr(word, '.'))
			return arena_copy_text(arena, word);
	return *text ? "of an unknown version" : NULL;
}

/* A missing store is not created. */
static const char *find_holders(const struct gpus *gpus, const char *state_folder,
				struct arena *arena)
{
	struct text holders CLEANUP(text_done) = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	gpu_set held;

	if (gpus->count == 0 || access(state_folder, F_OK) < 0 ||
	    store_sqlite_open(state_folder, &store, NULL) < 0)
		return "";
	int rc = machine_gpus_held(gpus, store->claims, NULL, &held, &holders, NULL);

	return rc < 0 ? "" : arena_copy_text(arena, text_of(&holders));
}

#define SHARED_MEMORY "/dev/shm"

void doctor_collect(const char *state_folder, struct arena *arena, struct doctor_facts *ret_facts)
{
	struct doctor_gpu *gpu = &ret_facts->gpu;
	struct timex clock = {.modes = 0}; /* reads, and changes nothing */
	bool is_clock_known = adjtimex(&clock) >= 0;
	struct statvfs space;
	bool has_shared_memory =
		access(SHARED_MEMORY, W_OK) == 0 && statvfs(SHARED_MEMORY, &space) == 0;

	*ret_facts = (struct doctor_facts){
		.shared_memory = has_shared_memory
					 ? (int64_t) space.f_blocks * (int64_t) space.f_frsize
					 : DOCTOR_UNKNOWN,
		.is_superuser = geteuid() == 0,
		.is_clock_known = is_clock_known,
		.is_clock_synchronized = is_clock_known && !(clock.status & STA_UNSYNC),
	};
	collect_python(ret_facts, arena);
	if (ret_facts->tensorflow.folder) /* no other Python needs it */
		collect_library(&ret_facts->library, arena);
	doctor_collect_network(&ret_facts->network, arena);
	doctor_collect_limits(&ret_facts->limits, arena);
	doctor_collect_state_folder(&ret_facts->state_folder, state_folder, arena);
	gpu->n_devices = count_devices();
	gpu->driver = read_driver(arena);
	collect_nodes(gpu, arena);
	machine_gpus_find(getenv(GPUS_VARIABLE), arena, &gpu->dealt);
	if (!gpu->driver)
		gpu->driver = gpu->dealt.driver;
	gpu->holders = find_holders(&gpu->dealt, state_folder, arena);
	doctor_collect_kubernetes(&ret_facts->kubernetes, arena);
}
