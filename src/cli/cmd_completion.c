/* muster completion: the script that completes command lines of muster in a shell, and what it asks
 * for. */
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/options.h"
#include "cli/output.h"

static int completion_run(const struct options *options)
{
	size_t count;
	const char *const *arguments = options_arguments(options, &count);
	struct text text CLEANUP(text_done) = {0};
	const char *script = count == 1 ? completion_script(arguments[0]) : NULL;

	if (count > 0 && text_equals(arguments[0], "words")) {
		completion_add_words(options, arguments + 1, count - 1, &text);
	} else if (script) {
		text_add(&text, script);
	} else {
		output_say("name a shell: muster completion bash, zsh or fish");
		return EXIT_WRONG_USE;
	}
	output_add(&text);
	return EXIT_DONE;
}

const struct command command_completion = {
	.name = "completion",
	.group = "Know",
	.arguments = "bash|zsh|fish",
	.one_line = "print the script that completes command lines of muster in a shell",
	.examples = "  source <(muster completion bash)\n"
		    "  muster completion zsh > ~/.zfunc/_muster\n"
		    "  muster completion fish > ~/.config/fish/completions/muster.fish\n",
	.takes_program = true,
	.run = completion_run,
};
