/* Sentences about a job begin with its name, which becomes a member of the object. */
#include "cli/operator_log.h"

#include "base/json.h"
#include "base/line_text.h"
#include "base/mem.h"
#include "cli/operator_flags.h"
#include "command/output.h"
#include "io/file.h"
#include "io/log.h"
#include "io/loop.h"

#include <string.h>
#include <unistd.h>

#define JOB_BEGINS "job '"
#define JOB_ENDS "': "
#define IN_ANY_CASE "info" /* the level of what is logged at any level */

static bool is_json(const struct options *options)
{
	return text_equals(option_text(options, "log-format"), "json") ||
	       text_equals(option_text(options, "zap-encoder"), "json");
}

static void set_sentence(struct json *line, const char *sentence)
{
	const char *name = strncmp(sentence, JOB_BEGINS, strlen(JOB_BEGINS)) == 0
				   ? sentence + strlen(JOB_BEGINS)
				   : NULL;
	const char *end = name ? strstr(name, JOB_ENDS) : NULL;
	struct text clean CLEANUP(text_done) = {0};

	if (end) {
		char *job CLEANUP(mem_free_text) = mem_copy_bytes(name, (size_t) (end - name));

		json_set_string(line, "job", job);
		sentence = end + strlen(JOB_ENDS);
	}
	line_text_add_sentence(&clean, sentence, strlen(sentence));
	json_set_string(line, "msg", text_of(&clean));
}

static void write_object(const char *level, const char *sentence)
{
	struct json *line CLEANUP(json_cleanup) = json_new_object();
	struct text text CLEANUP(text_done) = {0}, now CLEANUP(text_done) = {0};

	text_add_line_time(&now, loop_now(), 0);
	json_set_string(line, "ts", text_of(&now));
	json_set_string(line, "level", level);
	set_sentence(line, sentence);
	json_add_compact(&text, line);
	text_add_char(&text, '\n');
	file_write_all(STDERR_FILENO, text.bytes, text.len, NULL);
}

static void on_logged(enum log_level level, const char *sentence, void *data)
{
	(void) data;
	write_object(log_level_words[level], sentence);
}

void operator_log_begin(const struct options *options)
{
	log_set_level(operator_log_level(options));
	if (is_json(options))
		log_set_sink(on_logged, NULL);
}

void operator_log_write(const char *sentence, void *data)
{
	if (is_json(data))
		write_object(IN_ANY_CASE, sentence);
	else
		output_print_message("%s", sentence);
}
