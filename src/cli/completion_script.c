/* Each script asks `muster completion words`, so that it knows the options of the muster that it
 * completes. */
#include "cli/completion.h"

/* Bash cuts words at '=' and ':' too: what stands before the last of them is there already. */
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

const char *completion_script(const char *shell)
{
	if (text_equals(shell, "bash"))
		return bash_script;
	if (text_equals(shell, "zsh"))
		return zsh_script;
	return text_equals(shell, "fish") ? fish_script : NULL;
}
