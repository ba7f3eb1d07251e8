# Completion of muster for fish: muster completion fish | source
function __muster_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct | string collect --allow-empty)
	for line in ($words[1] completion words $words[2..-1] "$current" 2>/dev/null)
		if test "$line" = :files
			__fish_complete_path "$current"
		else
			echo $line
		end
	end
end
complete -c muster -f -k -a '(__muster_complete)'
