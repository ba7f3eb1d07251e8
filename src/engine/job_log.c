/* One line for each note, written with one call, so that lines never mix. */
#include "engine/job_log.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/line_text.h"
#include "io/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job_log {
	int fd; /* -1: it could not be opened */
};

struct job_log *job_log_open(const char *job_folder)
{
	struct job_log *log = mem_new(sizeof(*log));
	char *path CLEANUP(mem_free_text) = mem_format("%s/muster.log", job_folder);

	log->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return log;
}

void job_log_close(struct job_log *log)
{
	if (!log)
		return;
	file_close(&log->fd);
	free(log);
}

void job_log_add(struct job_log *log, msec now, const char *level, const char *reason,
		 const char *sentence)
{
	struct text line CLEANUP(text_done) = {0};

	if (!log || log->fd < 0)
		return;
	text_add_time(&line, now);
	text_addf(&line, " %s %s: ", level, reason);
	line_text_add_sentence(&line, sentence, strlen(sentence));
	text_add_char(&line, '\n');
	file_write_all(log->fd, line.bytes, line.len, NULL);
}
