# A reader that was written from the page about the format reads what adaptrace reads.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
work='
import json
def down(n): return sum(range(50)) if n == 0 else down(n - 1)
for i in range(3000): down(i % 40); json.loads(json.dumps(list(range(i % 100))))
'
user='-e cpu-clock:u --counters page-faults:u,task-clock:u'
for options in "-m 64K" "-m 1M" "-m 64K $user" "-m 1M --inherit $user,minor-faults:u"; do
	"$ADAPTRACE" record -q $options --max-overhead 0 -o "$dir/x.atr" python3 -c "$work"
	"$ADAPTRACE" dump --json "$dir/x.atr" | python3 "$(dirname "$0")/read_trace.py" "$dir/x.atr"
done
