/* muster completion: the script that completes command lines of muster in a shell, and the words
 * that the script requests. */
#include "cli/commands.h"
#include "cli/completion.h"
#include "command/options.h"
#include "command/output.h"

/* Each script calls `muster completion words`, so that it knows the options of the muster that it
 * completes. */

/* Bash splits words also at '=' and ':'; the text up to the last of them is already there. */
static const char bash_script[] =
	"# Completion of muster for bash: source <(muster completion bash)\n"
	"_muster() {\n"
	"	local line=${COMP_LINE:0:COMP_POINT} words candidate current before\n"
	"	read -ra words <<<\"$line\"\n"
	"	[[ $line == *[[:space:]] ]] && words+=('')\n"
	"	current=${words[${#words[@]} - 1]}\n"
	"	before=${current%\"${current##*[=:]}\"}\n"
	"	COMPREPLY=()\n"
	"	while IFS=$'\\t' read -r candidate _; do\n"
	"		if [[ $candidate == :files ]]; then\n"
	"			compopt -o filenames 2>/dev/null\n"
	"			while IFS= read -r candidate; do\n"
	"				COMPREPLY+=(\"$candidate\")\n"
	"			done < <(compgen -f -- \"${current#\"$before\"}\")\n"
	"		else\n"
	"			[[ $candidate == *[=:] ]] && compopt -o nospace 2>/dev/null\n"
	"			COMPREPLY+=(\"${candidate#\"$before\"}\")\n"
	"		fi\n"
	"	done < <(\"${words[0]/#\\~/$HOME}\" completion words \"${words[@]:1}\" "
	"2>/dev/null)\n"
	"}\n"
	"complete -F _muster muster\n";

static const char zsh_script[] =
	"#compdef muster\n"
	"# Completion of muster for zsh: source <(muster completion zsh)\n"
	"_muster() {\n"
	"	local line candidate\n"
	"	local -a lines described open\n"
	"	lines=(\"${(@f)$(${~words[1]} completion words \"${(@Q)words[2,CURRENT]}\" "
	"2>/dev/null)}\")\n"
	"	for line in \"${lines[@]}\"; do\n"
	"		candidate=${line%%$'\\t'*}\n"
	"		case $candidate in\n"
	"		'') ;;\n"
	"		:files) _files ;;\n"
	"		*[=:]) open+=(\"$candidate\") ;;\n"
	"		*) described+=(\"${candidate//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
	"		esac\n"
	"	done\n"
	"	(( ${#open} )) && compadd -S '' -- \"${open[@]}\"\n"
	"	(( ${#described} )) && _describe -V muster described\n"
	"}\n"
	"if [ \"$funcstack[1]\" = _muster ]; then\n"
	"	_muster \"$@\"\n"
	"else\n"
	"	compdef _muster muster\n"
	"fi\n";

static const char fish_script[] =
	"# Completion of muster for fish: muster completion fish | source\n"
	"function __muster_complete\n"
	"	set -l words (commandline -opc)\n"
	"	set -l current (commandline -ct | string collect --allow-empty)\n"
	"	for line in ($words[1] completion words $words[2..-1] \"$current\" 2>/dev/null)\n"
	"		if test \"$line\" = :files\n"
	"			__fish_complete_path \"$current\"\n"
	"		else\n"
	"			echo $line\n"
	"		end\n"
	"	end\n"
	"end\n"
	"complete -c muster -f -k -a '(__muster_complete)'\n";

static /* NULL: another shell. */
	const char *
	completion_script(const char *shell)
{
	if (text_equals(shell, "bash"))
		return bash_script;
	if (text_equals(shell, "zsh"))
		return zsh_script;
	return text_equals(shell, "fish") ? fish_script : NULL;
}

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
		output_print_message("missing shell (expected bash, zsh or fish)");
		return EXIT_USAGE;
	}
	output_add(&text);
	return EXIT_DONE;
}

const struct command command_completion = {
	.name = "completion",
	.group = "Help and setup",
	.arguments = "bash|zsh|fish",
	.one_line = "print a shell completion script",
	.examples = "  source <(muster completion bash)\n"
		    "  muster completion zsh > ~/.zfunc/_muster\n"
		    "  muster completion fish > ~/.config/fish/completions/muster.fish\n",
	.takes_program = true,
	.run = completion_run,
};
