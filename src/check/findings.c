#include "check/findings.h"

#include "base/mem.h"
#include "tensorflow/library.h"
#include "tensorflow/library_find.h"
#include "tensorflow/network_matrix.h"
#include "tensorflow/python_find.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* Library and Python. */

static bool has_tensorflow(const struct python_place *python)
{
	for (size_t i = 0; i < python->n_packages; i++) {
		char *path CLEANUP(mem_free_text) =
			mem_format("%s/tensorflow/__init__.py", python->packages[i]);

		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* The Python that `muster run` would use for a model. */
static int find_python(struct text *what, struct err *err)
{
	const struct python_search search = python_search_here();
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct python_place python;

	if (python_find(&search, arena, &python, err) < 0)
		return err_set(err, ERR_NOT_FOUND,
			       "the models need Python with TensorFlow, but no Python was found: "
			       "apt install python3-venv, create and activate an environment, or "
			       "check without a model (--model none)");
	if (!has_tensorflow(&python))
		return err_set(
			err, ERR_NOT_FOUND,
			"the models need Python with TensorFlow, but %s has none; install it (%s "
			"-m pip install tensorflow-cpu), or check without a model (--model none)",
			python.interpreter, python.interpreter);
	text_addf(what, "; Python%s%s, %s", python.version ? " " : "",
		  python.version ? python.version : "", python.interpreter);
	return 0;
}

int check_find_library(const struct check_request *request, struct text *what, struct err *err)
{
	const struct library_search search = library_search_here(request->libtensorflow);
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct library_place place;
	int rc = library_find(&search, arena, &place, NULL, err);

	if (rc == 0)
		rc = library_check_file(place.path, err);
	if (rc < 0)
		return rc;
	text_addf(what, "TensorFlow%s%s, %s", place.version ? " " : "",
		  place.version ? place.version : "", place.path);
	return check_request_trains(request) ? find_python(what, err) : 0;
}

/* Data. */

static const char *const mnist_files[] = {
	"train-images-idx3-ubyte",
	"train-labels-idx1-ubyte",
	"t10k-images-idx3-ubyte",
	"t10k-labels-idx1-ubyte",
	NULL,
};
static const char *const census_files[] = {"adult.data", "adult.test", NULL};

static bool is_readable_file(const char *folder, const char *name, const char *ending)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s%s", folder, name, ending);
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, R_OK) == 0;
}

static int check_folder(const char *folder, struct err *err)
{
	struct stat status;

	if (stat(folder, &status) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return err_set(err, ERR_NOT_FOUND, "data directory %s does not exist",
				       folder);
		return err_set_errno(err, errno, "data folder %s", folder);
	}
	if (!S_ISDIR(status.st_mode))
		return err_set(err, ERR_NOT_FOUND, "data directory %s is a file", folder);
	return 0;
}

int check_find_data(const struct check_request *request, struct text *what, struct err *err)
{
	bool is_census = request->model == CHECK_CENSUS;
	const char *const *file = is_census ? census_files : mnist_files;
	struct text missing CLEANUP(text_done) = {0};
	int count = 0;
	int rc = check_folder(request->data_dir, err);

	if (rc < 0)
		return rc;
	for (; *file; file++, count++)
		if (!is_readable_file(request->data_dir, *file, "") &&
		    !is_readable_file(request->data_dir, *file, ".gz"))
			text_addf(&missing, "%s%s", missing.len ? ", " : "", *file);
	if (missing.len > 0)
		return err_set(err, ERR_NOT_FOUND,
			       "data directory %s has no %s (with or without .gz)",
			       request->data_dir, text_of(&missing));
	text_addf(what, "%d files of %s in %s", count, is_census ? "the census" : "MNIST",
		  request->data_dir);
	return 0;
}

#define TIMEOUT (5 * MSEC_PER_SECOND)
#define HERE "this machine"

struct check_reach {
	const struct check_server *servers; /* the request's */
	struct network_peer *peers;
	struct network_probe *probe;
	check_link_fn tell;
	void *data;
};

static void on_finding(size_t peer, const struct network_finding *finding, void *data)
{
	const struct check_reach *reach = data;
	const struct check_server *server = &reach->servers[peer];
	char *address CLEANUP(mem_free_text) = mem_format(
		"%s:%d", finding->address[0] ? finding->address : server->host, server->port);
	struct json *event CLEANUP(json_cleanup) =
		network_event_new(HERE, server->place, address, finding);

	reach->tell(event, reach->data);
}

static void on_reach_probe_end(void *data)
{
	struct check_reach *reach = data;

	network_probe_free(TAKE(reach->probe));
}

int check_reach_start(struct loop *loop, const struct check_request *request, check_link_fn tell,
		      void *data, struct check_reach **ret_reach, struct err *err)
{
	struct check_reach *reach = mem_new(sizeof(*reach));

	*reach = (struct check_reach){
		.servers = request->servers,
		.peers = mem_new_array(request->n_servers, sizeof(*reach->peers)),
		.tell = tell,
		.data = data,
	};
	for (size_t i = 0; i < request->n_servers; i++)
		reach->peers[i] = (struct network_peer){.name = request->servers[i].place,
							.host = request->servers[i].host,
							.port = request->servers[i].port};
	const struct network_probe_settings settings = {
		.peers = reach->peers,
		.n_peers = request->n_servers,
		.own = request->n_servers,
		.timeout = TIMEOUT,
		.tell = on_finding,
		.on_end = on_reach_probe_end,
		.data = reach,
	};

	int failure = network_probe_start(loop, &settings, &reach->probe, err);

	if (failure)
		check_reach_free(reach);
	else
		*ret_reach = reach;
	return failure;
}

void check_reach_free(struct check_reach *reach)
{
	if (!reach)
		return;
	network_probe_free(reach->probe);
	free(reach->peers);
	free(reach);
}
