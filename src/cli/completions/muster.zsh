#compdef muster
# Completion of muster for zsh: source <(muster completion zsh)
_muster() {
	local line candidate
	local -a lines described open
	lines=("${(@f)$(${~words[1]} completion words "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	for line in "${lines[@]}"; do
		candidate=${line%%$'\t'*}
		case $candidate in
		'') ;;
		:files) _files ;;
		*[=:]) open+=("$candidate") ;;
		*) described+=("${candidate//:/\\:}:${line#*$'\t'}") ;;
		esac
	done
	(( ${#open} )) && compadd -S '' -- "${open[@]}"
	(( ${#described} )) && _describe -V muster described
}
if [ "$funcstack[1]" = _muster ]; then
	_muster "$@"
else
	compdef _muster muster
fi
