# Completion for bash, from what adaptrace says of itself: commands, their options, events, traces.
_adaptrace()
{
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
	local word=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD joined before events= there= words

	# bash takes the : of sched:NAME for a word, and the = of --event=NAME
	joined=$word
	while ((at > 2)) && [[ ${COMP_WORDS[at]} == :* || ${COMP_WORDS[at - 1]} == *: ]]; do
		joined=${COMP_WORDS[--at]}$joined
	done
	before=${COMP_WORDS[at - 1]}
	[[ $before == = ]] && before=${COMP_WORDS[at - 2]}
	[[ $command == @(record|top) && $before == @(-e|--event|--counters) ]] && events=1 word=$joined
	[[ $word == = ]] && word=
	if ((COMP_CWORD == 1)) || [[ $command == help ]]; then
		words="help $("$program" help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')"
	elif [[ $word == -* ]]; then
		words=$("$program" help "$command" 2>/dev/null |
			sed -n 's/^ \{2,6\}\(-., \)\{0,1\}\(--[a-z0-9-]*\[\{0,1\}=\{0,1\}\).*/\2/p' | tr -d '[')
	elif [[ $events ]]; then
		words=$("$program" list --available --json 2>/dev/null |
			grep -o '"name":"[^"]*"' | cut -d '"' -f 4)
		# of a list the last one
		[[ $word == *,* ]] && there=${word%,*},
		word=${word##*,}
	elif [[ $command == ctl ]]; then
		words=$("$program" help ctl 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p')
	elif [[ $command == @(record|top) ]]; then
		mapfile -t COMPREPLY < <(compgen -A command -A file -- "$word")
		return
	else
		mapfile -t COMPREPLY < <(compgen -A file -X '!*.atr*' -- "$word"; compgen -A directory -- "$word")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -P "$there" -W "$words" -- "$word")
	# What stands before a colon is no part of the word that bash completes.
	[[ $events ]] && ((at < COMP_CWORD)) && COMPREPLY=("${COMPREPLY[@]#"${joined%:*}:"}")
	compopt +o filenames 2>/dev/null # whose = would be quoted
	[[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}
complete -o filenames -F _adaptrace adaptrace
