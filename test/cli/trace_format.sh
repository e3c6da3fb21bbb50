# A reader that was written from the page about the format reads what adaptrace reads.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
work='
import json
def down(n): return sum(range(50)) if n == 0 else down(n - 1)
for i in range(3000): down(i % 40); json.loads(json.dumps(list(range(i % 100))))
'
for budget in 64K 1M; do
	"$ADAPTRACE" record -q -m $budget --max-overhead 0 -o "$dir/x.atr" python3 -c "$work"
	"$ADAPTRACE" dump --json "$dir/x.atr" | python3 "$(dirname "$0")/read_trace.py" "$dir/x.atr"
done
