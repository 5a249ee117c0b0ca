// stack_rust.rs: stacks of Rust, walked in closures, drops and comparators, also while a panic
// passes, and compared with libunwind's by rust_compare of stack_rust.c. For hook_stack.bats.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};

extern "C" {
    fn rust_compare();
}

#[inline(never)]
fn compare() {
    unsafe { rust_compare() }
    std::hint::black_box(0);
}

struct Watched(String);

impl Drop for Watched {
    fn drop(&mut self) {
        compare(); // also while a panic passes
    }
}

#[inline(never)]
fn descend(depth: u32, end: &dyn Fn(u32)) -> usize {
    let held = Watched(format!("{depth}"));
    let block = [depth as u8; 100];
    compare();
    if depth == 0 {
        end(depth);
    } else {
        descend(depth - 1, end);
    }
    std::hint::black_box(&block);
    held.0.len()
}

#[no_mangle]
pub extern "C" fn rust_main() {
    std::panic::set_hook(Box::new(|_| {}));
    for depth in 0..6 {
        descend(depth, &|_| compare());
        let passed = catch_unwind(AssertUnwindSafe(|| {
            descend(depth, &|depth| panic!("thrown at {depth}"))
        }));
        assert!(passed.is_err());
        compare();
    }
    let mut numbers = vec![5, 3, 9, 1];
    numbers.sort_by(|a, b| {
        compare();
        a.cmp(b)
    });
    let map: BTreeMap<i32, String> = numbers
        .iter()
        .map(|number| {
            compare();
            (*number, number.to_string())
        })
        .collect();
    std::hint::black_box(&map);
    std::thread::spawn(|| {
        descend(3, &|_| compare());
    })
    .join()
    .unwrap();
}
