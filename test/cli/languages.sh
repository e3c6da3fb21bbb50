#!/bin/sh
# Names in Ada, OCaml, and stripped Go, where a compiler is installed; and of C beside them.
. "$(dirname "$0")/scenario"
need_sampling
nr=0

shows() { # program, name that people use, name that linkers know
	recorded -F 1000 -e cpu-clock -o "$1.atr" "./$1" >out
	"$ADAPTRACE" report --all "$1.atr" >out 2>&1 || fail "report of $1: $(cat out)"
	grep -qF " $2 " out || fail "no $2 in $1: $(cat out)"
	"$ADAPTRACE" report --callers "$3" "$1.atr" >out 2>&1 && ! grep -q 'no sample' out ||
		fail "$3 in $1: $(cat out)"
	nr=$((nr + 1))
}

cat >worker.adb <<'EOF2'
with Ada.Text_IO;
procedure Worker is
   S : Long_Float := 0.0;
   function Step (X : Long_Float) return Long_Float;
   pragma No_Inline (Step);
   function Step (X : Long_Float) return Long_Float is
      R : Long_Float := X;
   begin
      for I in 1 .. 1000 loop
         R := R * 0.5 + S;
      end loop;
      return R;
   end Step;
begin
   for I in 1 .. 200_000 loop
      S := Step (S) * 1.0E-3;
   end loop;
   Ada.Text_IO.Put_Line (S'Image);
end Worker;
EOF2
command -v gnatmake >/dev/null && gnatmake -q -O1 worker.adb >out 2>&1 && shows worker worker.step worker__step

# A function of C keeps its name beside Ada's.
if command -v gnatmake >/dev/null && gcc -g -O1 -c -x c -o c.o - <<'EOF2'
double burn__long(double x) { for (int i = 0; i < 300000000; i++) x = x * 0.5 + i; return x; }
EOF2
then
	cat >mixed.adb <<'EOF2'
with Ada.Text_IO;
procedure Mixed is
   function Burn (X : Long_Float) return Long_Float;
   pragma Import (C, Burn, "burn__long");
begin
   Ada.Text_IO.Put_Line (Long_Float'Image (Burn (1.0)));
end Mixed;
EOF2
	gnatmake -q -O1 mixed.adb -largs c.o >out 2>&1 && shows mixed burn__long burn__long
fi

cat >burner.ml <<'EOF2'
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let () = print_int (fib 36)
EOF2
command -v ocamlopt >/dev/null && ocamlopt burner.ml -o burner >out 2>&1 &&
	shows burner Burner.fib "$(nm burner | sed -n 's/.* T \(camlBurner[_.]*fib_.*\)/\1/p' | head -n 1)"

cat >spin.go <<'EOF2'
package main

//go:noinline
func spin(n int) float64 {
	s := 1.0
	for i := 0; i < n; i++ {
		s = s*0.5 + float64(i)
	}
	return s
}

func main() { println(spin(200000000)) }
EOF2
command -v go >/dev/null && HOME=$PWD GOCACHE=$PWD/cache go build -ldflags=-s -o spin spin.go >out 2>&1 &&
	shows spin main.spin main.spin

[ $nr -gt 0 ] || skip "no compiler of these languages"
