#!/bin/sh
# run.sh BUILD: what heapprof costs, each figure beside a bare run of the same program or beside
# another profiler, and beside its target.
#
# Called by `make bench`. PAIRS=N changes the number of pairs (21); ROWS=REGEX measures only the rows
# that it matches, each being "SECTION'S TITLE: LABEL". A row is: the median of the quotients of
# paired runs, its 95 % interval, what the bare run takes, the target. `cpu` stands for CPU time of
# two runs together on one processor, which other work on the machine disturbs little; `wall` for
# wall time of runs in turn, of programs with several threads. There a busy machine makes any figure
# possible: before a MISSED is believed, repeat the row with more pairs, and look at the CPU time
# beside it. What a figure is does not matter to the exit status.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
HEAPPROF=$build/heapprof
BENCH=$build/tests/bench
PAIRS=${PAIRS:-21}
FEW_PAIRS=$(((PAIRS + 2) / 3)) # of what takes long, or need not be known so well
ROWS=${ROWS:-}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
trap 'exit 1' HUP INT TERM
cd "$WORK"
export HEAPPROF BENCH PAIRS FEW_PAIRS ROWS WORK

cat >work.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)
    insert into t select i, 'row ' || (i * 7919 % 100003), i * 1.5 from n;
create index tb on t(b);
select b, count(*) from t group by substr(b, 1, 6) order by 2 desc limit 5;
END
cat >work.py <<'END'
import json
rows = [{"id": i, "tags": ["t%d" % (j * i % 97) for j in range(8)]} for i in range(20000)]
for _ in range(6):
    print(len(json.loads(json.dumps(rows))))
END

# shellcheck source=tests/bench/rows.sh
. "$here/rows.sh"
for part in default_rate on_mimalloc samplers exact growth one_sample start_up instructions; do
    # shellcheck source=/dev/null
    . "$here/$part.sh"
done
count_rows
