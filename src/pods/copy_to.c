/* The script in the container reports which tar it has, unpacks the stream, and moves the copy to
 * its destination when the last file of the stream has arrived. */
#include "base/mem.h"
#include "base/text.h"
#include "pods/copy_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define CONTENT "content" /* names in the stream */
#define WHOLE "whole"

/* -o: files belong to the user that unpacks them. An end of input does not prove that the stream is
 * complete: it also happens when the connection is lost.
 *
 * An existing directory gets entries, and its attributes stay: it may be root's, or a volume, and
 * so may its parent. So the stage is in that directory then, and the entries are moved in batches,
 * because one program for each of thousands takes long. */
static const char script_text[] =
	"place=$1 name=$2 kind=$3\nfail() { echo \"$2\" >&2; exit \"$1\"; }\ncommand -v tar "
	">/dev/null || fail 69 'the container has no tar, which copying needs'\ncase $place in /*) "
	";; *) place=./$place ;; esac\nif [ -d \"$place\" ]; then\n	[ -z \"$name\" ] || "
	"place=${place%/}/$name\nelif [ \"$kind\" = file ]; then\n	case $place in */) fail 66 "
	"\"directory '$place' not found in the container\" ;; esac\nfi\nfolder=$(dirname "
	"\"$place\")\n[ ! -d \"$place\" ] || folder=$place\n[ -d \"$folder\" ] || fail 66 "
	"\"directory '$folder' not found in the container\"\nif [ \"$kind\" = file ]; then\n	[ "
	"! -d "
	"\"$place\" ] || fail 73 \"'$place' is a directory in the container\"\nelif [ -e "
	"\"$place\" "
	"]; then\n	[ -d \"$place\" ] || fail 73 \"'$place' already exists and is not a "
	"directory\"\nfi\nstage=$(mktemp -d \"$folder/.muster-cp-XXXXXX\" 2>/dev/null) ||\n	"
	"fail 1 \"cannot write into directory '$folder' in the container\"\ntrap 'exit 1' HUP INT "
	"TERM\ntrap 'rm -rf \"$stage\"' EXIT\ncase $(tar --version 2>/dev/null) "
	"in\n*GNU*|*bsdtar*) echo pax ;;\n*) echo gnu ;;\nesac\ntar -x -p -o -f - -C \"$stage\" || "
	"exit 1\n[ -e \"$stage/" WHOLE "\" ] || fail 1 'the copy was cut off'\n"
	"merge() (\n"
	"	from=$1 to=$2\n"
	"	set --\n"
	"	for each in \"$from\"/* \"$from\"/.[!.]* \"$from\"/..?*; do\n"
	"		[ -e \"$each\" ] || [ -L \"$each\" ] || continue\n"
	"		if [ -d \"$each\" ] && [ ! -L \"$each\" ] && [ -d \"$to/${each##*/}\" ]; "
	"then\n"
	"			merge \"$each\" \"$to/${each##*/}\" || exit\n"
	"			continue\n"
	"		fi\n"
	"		set -- \"$@\" \"$each\"\n"
	"		[ $# -lt 100 ] || { mv -f \"$@\" \"$to/\" && set -- || exit; }\n"
	"	done\n"
	"	[ $# = 0 ] || mv -f \"$@\" \"$to/\"\n"
	")\n"
	"if [ -d \"$place\" ]; then\n"
	"	merge \"$stage/" CONTENT "\" \"$place\"\n"
	"else\n"
	"	mv -f \"$stage/" CONTENT "\" \"$place\"\n"
	"fi\n";

static void finish_copy_to_pod(struct kube_copy *copy, const char *warnings, const struct err *err)
{
	copy->on_end(warnings, err, copy->data);
	copy_free(copy);
}

/* The script ignores the end of input: the last file of the stream has not arrived. */
static void abandon_copy_to_pod(struct kube_copy *copy)
{
	struct err err = copy->err;

	kube_script_cancel(TAKE(copy->script));
	finish_copy_to_pod(copy, "", &err);
}

static void on_copy_to_room(void *data)
{
	struct kube_copy *copy = data;
	struct kube_exec *exec = kube_script_exec(copy->script);
	const char *bytes;
	size_t len = 1;
	int rc = 0;

	while (copy->pack && len && rc == 0 && kube_exec_has_room(exec)) {
		rc = archive_pack_next(copy->pack, &bytes, &len, &copy->err);
		if (rc == 0 && len)
			kube_exec_send(exec, bytes, len);
		copy->bytes += rc ? 0 : len;
	}
	if (rc == 0 && !len) {
		copy_warn_of_left_out(copy, archive_pack_left_out(copy->pack));
		archive_pack_free(TAKE(copy->pack));
		rc = kube_exec_end_input(exec, &copy->err);
	}
	if (rc < 0)
		abandon_copy_to_pod(copy);
}

static void on_copy_to_answer(const char *line, const char *bytes, size_t len, void *data)
{
	struct kube_copy *copy = data;
	const struct archive_limits limits = {COPY_FILES_LIMIT, UINT64_MAX};
	enum archive_format format = text_equals(line, "pax") ? ARCHIVE_PAX : ARCHIVE_GNU;

	(void) bytes, (void) len; /* none are expected */
	if (archive_pack_new(copy->here, CONTENT, format, &limits, &copy->pack, &copy->err)) {
		abandon_copy_to_pod(copy);
		return;
	}
	archive_pack_end_with(copy->pack, WHOLE);
	on_copy_to_room(copy);
}

static void on_copy_to_script_end(const char *warnings, const struct err *err, void *data)
{
	struct kube_copy *copy = data;

	copy->script = NULL;
	copy_add_warning(copy, warnings);
	finish_copy_to_pod(copy, copy_warnings(copy), err);
}

int kube_copy_to(struct kube_api *api, const struct kube_copy_request *request,
		 struct kube_copy **ret_copy, struct err *err)
{
	char *base CLEANUP(mem_free_text) = copy_base(request->here);
	struct stat status;

	if (stat(request->here, &status) < 0)
		return errno == ENOENT
			       ? err_set(err, ERR_NOT_FOUND, "'%s' not found", request->here)
			       : err_set_errno(err, errno, "cannot read '%s'", request->here);
	if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
		return err_set(err, ERR_INVALID, "'%s' is not a file or directory", request->here);
	struct kube_copy *copy = mem_new(sizeof(*copy));
	const char *arguments[] = {request->there, base ? base : "",
				   S_ISDIR(status.st_mode) ? "folder" : "file", NULL};
	const struct kube_script_request script = {
		.container = request->container,
		.text = script_text,
		.arguments = arguments,
		.has_input = true,
		.on_answer = on_copy_to_answer,
		.on_room = on_copy_to_room,
		.on_end = on_copy_to_script_end,
		.data = copy,
	};

	copy->on_end = request->on_end;
	copy->data = request->data;
	copy->here = mem_copy_text(request->here);
	copy->script = kube_script_new(api, &script);
	*ret_copy = copy;
	return 0;
}
