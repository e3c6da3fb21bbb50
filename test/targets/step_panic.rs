// Rust as programs are: generic and dynamic calls, collections, text, and panics that are caught.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::panic;

trait Shape {
    fn area(&self, depth: u64) -> u64;
}

struct Square(u64);
struct Circle(f64);

impl Shape for Square {
    fn area(&self, depth: u64) -> u64 {
        dive(depth, self.0)
    }
}

impl Shape for Circle {
    fn area(&self, depth: u64) -> u64 {
        (self.0.sin().abs() * 100.0) as u64 + dive(depth, 1)
    }
}

struct Guard<'a>(&'a mut u64);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        *self.0 += 1;
    }
}

#[inline(never)]
fn dive(depth: u64, salt: u64) -> u64 {
    let mut count = salt;
    let guard = Guard(&mut count);
    if depth == 0 {
        if salt % 3 == 0 {
            panic!("at the bottom: {}", salt);
        }
        return *guard.0;
    }
    let shapes: [Box<dyn Shape>; 2] = [Box::new(Square(salt)), Box::new(Circle(salt as f64))];
    let sum = shapes[(depth % 2) as usize].area(depth - 1);
    sum + *guard.0
}

fn round(n: u64) -> u64 {
    let mut words: HashMap<String, u64> = HashMap::new();
    let mut sorted = BTreeMap::new();
    let mut text = String::new();
    for i in 0..20 {
        write!(text, "{}-{:.2} ", i * n, (i as f64).sqrt()).unwrap();
        let caught = panic::catch_unwind(|| dive(i % 12, i + n));
        *words.entry(format!("{:?}", caught.is_err())).or_default() += 1;
    }
    for word in text.split_whitespace() {
        sorted.insert(word.chars().rev().collect::<String>(), word.len());
    }
    let mut lengths: Vec<usize> = sorted.values().copied().collect();
    lengths.sort_by(|a, b| b.cmp(a));
    lengths.iter().sum::<usize>() as u64 + words.len() as u64
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let total: u64 = (0..100000).map(round).sum();
    println!("{}", total);
}
