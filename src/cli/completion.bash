# Completion for bash, from what adaptrace says of itself: commands, their options, events, traces.
_adaptrace()
{
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local words

	# bash takes the = of --event=NAME for a word
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if ((COMP_CWORD == 1)) || [[ $command == help ]]; then
		words="help $("$program" help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')"
	elif [[ $word == -* ]]; then
		words=$("$program" help "$command" 2>/dev/null |
			sed -n 's/^ \{2,6\}\(-., \)\{0,1\}\(--[a-z0-9-]*\[\{0,1\}=\{0,1\}\).*/\2/p' | tr -d '[')
	elif [[ $command == record && $before == @(-e|--event|--counters) ]]; then
		words=$("$program" list --available --json 2>/dev/null |
			grep -o '"name":"[^"]*"' | cut -d '"' -f 4)
	elif [[ $command == record ]]; then
		mapfile -t COMPREPLY < <(compgen -A command -A file -- "$word")
		return
	else
		mapfile -t COMPREPLY < <(compgen -A file -X '!*.atr*' -- "$word"; compgen -A directory -- "$word")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	compopt +o filenames 2>/dev/null # whose = would be quoted
	[[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}
complete -o filenames -F _adaptrace adaptrace
