# Completion of muster for bash: source <(muster completion bash)
_muster() {
	local line=${COMP_LINE:0:COMP_POINT} words candidate current before
	# Bash splits words also at = and :, and the text up to the last of them is already there.
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=('')
	current=${words[${#words[@]} - 1]}
	before=${current%"${current##*[=:]}"}
	COMPREPLY=()
	while IFS=$'\t' read -r candidate _; do
		if [[ $candidate == :files ]]; then
			compopt -o filenames 2>/dev/null
			while IFS= read -r candidate; do
				COMPREPLY+=("$candidate")
			done < <(compgen -f -- "${current#"$before"}")
		else
			[[ $candidate == *[=:] ]] && compopt -o nospace 2>/dev/null
			COMPREPLY+=("${candidate#"$before"}")
		fi
	done < <("${words[0]/#\~/$HOME}" completion words "${words[@]:1}" 2>/dev/null)
}
complete -F _muster muster
