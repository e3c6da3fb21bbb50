#!/bin/sh
# Names of functions as compilers and tools write them, and the text of source files that changed.
. "$(dirname "$0")/scenario"
need_sampling

cat >app.cc <<'EOF'
#include <cstdio>
#include <vector>
static double force(std::vector<double> &v)
{
	double s = 0;
	for (int k = 0; k < 20000; k++)
		for (auto &x : v)
			s = s * 0.999 + x;
	return s;
}
static double region(std::vector<double> &v)
{
	double s = 0;
#pragma omp parallel for reduction(+ : s)
	for (int k = 0; k < 20000; k++)
		for (unsigned i = 0; i < v.size(); i++)
			s += v[i] * 0.5;
	return s;
}
int main()
{
	std::vector<double> v(1000, 1.5);
	double s = 0;
	for (int i = 0; i < 6; i++)
		s += force(v) + region(v);
	printf("%g\n", s);
}
EOF
mkdir old new
g++ -g -O0 -fopenmp app.cc -o old/app && g++ -g -O2 -fopenmp app.cc -o new/app || skip "no g++ with OpenMP"
for i in old new; do recorded -F 2000 -e cpu-clock -o $i.atr ./$i/app >out; done

echo "-- one function on both sides"
"$ADAPTRACE" diff old.atr new.atr -q --all --sort symbol >out || fail "diff"
[ "$(grep -c ' force' out)" = 1 ] || fail "force is not one row: $(cat out)"
grep -q ' 0.000 .*force' out && fail "one side of force: $(cat out)"

echo "-- names that other tools print"
part='region(std::vector<double, std::allocator<double> >&) (omp region 0)'
for name in region force "$(nm old/app | sed -n 's/.* t \(_ZL5force.*\)/\1/p')" \
	"$(nm -C old/app | sed -n 's/.* t \(force.*\)/\1/p')" \
	"$(nm old/app | sed -n 's/.* t \(_ZL6region.*omp_fn.*\)/\1/p')" \
	"$(nm -C old/app | sed -n 's/.* t \(region.*clone.*\)/\1/p')" "$part"; do
	for view in annotate callers callees; do
		"$ADAPTRACE" report --$view "$name" old.atr >out 2>&1 || fail "--$view $name: $(cat out)"
		grep -q 'no sample' out && fail "--$view $name: $(cat out)"
	done
done
"$ADAPTRACE" report --annotate region new.atr | grep -q 's += v\[i\]' || fail "no lines of a region"
"$ADAPTRACE" report --annotate regiom._omp_fn.0 old.atr 2>&1 | grep -q "did you mean 'region" ||
	fail "no near name"

echo "-- source files that changed"
# shows TRACE, hides TRACE WHY: the text of force() in a report
shows()
{
	"$ADAPTRACE" report --annotate force "$1" >out
	grep -q 's \* 0.999' out || fail "no text of $1: $(cat out)"
}
hides()
{
	"$ADAPTRACE" report --annotate force "$1" >out
	grep -q "/[a-z0-9]*\.c*: $2\$" out || fail "no reason for $1: $(cat out)"
	grep -q 's \* 0.999' out && fail "text of $1: $(cat out)"
}
copy=kept.cc
cp -p app.cc $copy
for when in '+1 hour' '-1 hour'; do
	touch -d "$when" app.cc
	shows old.atr
done
sed 's/cstdio/stdio./' $copy >app.cc
touch -r $copy app.cc
hides old.atr 'the file was changed since'
cp -p $copy app.cc

echo "-- source files of a merge"
"$ADAPTRACE" merge -o same.atr old.atr new.atr >out 2>&1 || fail "merge: $(cat out)"
shows same.atr
sed 's/%g/%f/' $copy >app.cc
g++ -g -O0 -fopenmp app.cc -o other && recorded -F 2000 -e cpu-clock -o other.atr ./other >out
shows other.atr
"$ADAPTRACE" merge -o mixed.atr old.atr other.atr >out 2>&1 || fail "merge: $(cat out)"
hides mixed.atr 'parts of the run had files that differ'
cp -p $copy app.cc
hides mixed.atr 'parts of the run had files that differ'

echo "-- source files whose MD5 is in the debug information"
cat >md5.c <<'EOF'
volatile double v = 1.5;
static double force(double s)
{
	for (int i = 0; i < 20000000; i++)
		s = s * 0.999 + v;
	return s;
}
int main(void)
{
	return force(1) + force(2) + force(3) < 0;
}
EOF
cp -p md5.c kept.c
if clang -g -gdwarf-5 -O0 md5.c -o md5 2>/dev/null; then
	touch -d '+1 hour' md5.c
	recorded -F 2000 -e cpu-clock -o md5.atr ./md5 >out
	shows md5.atr
	sed 's/1\.5/2.5/' kept.c >md5.c
	touch -d '-1 hour' md5.c
	hides md5.atr 'the file is not the one that was compiled'
	recorded -F 2000 -e cpu-clock -o late.atr ./md5 >out
	hides late.atr 'the file is not the one that was compiled'
	cp -p kept.c md5.c
	shows late.atr
fi
touch -d '-2 hours' old/app
"$ADAPTRACE" report --annotate force old.atr >out
grep -q 'app.cc: the file is newer than the program$' out || fail "a newer file: $(cat out)"
grep -q 's \* 0.999' out && fail "text of a newer file: $(cat out)"
rm app.cc
"$ADAPTRACE" report --annotate force old.atr | grep -q 'app.cc: the file is not here$' || fail "no file"
pass
