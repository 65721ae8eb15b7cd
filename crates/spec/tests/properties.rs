//! What holds of any text: the lexer says something of it, and sums come out right.

use std::collections::HashMap;

mod common;

use common::FixtureHost;
use iosonde_spec::text::arithmetic::{Suffixes, evaluate, rewrite};
use iosonde_spec::text::lex::{Body, lines};
use iosonde_spec::text::section::read;
use proptest::prelude::*;

/// An expression as a tree: what it is worth needs no parser.
#[derive(Clone, Debug)]
enum Sum {
    Number(u32),
    Negated(Box<Sum>),
    Two(Box<Sum>, char, Box<Sum>),
}

impl Sum {
    /// With a parenthesis around everything, or only where the operators ask for one.
    fn text(&self, sparing: bool) -> String {
        match self {
            Sum::Number(n) => n.to_string(),
            Sum::Negated(a) => format!("-{}", a.operand(4, sparing)),
            Sum::Two(a, operator, b) => {
                let own = strength(*operator);
                let (left, right) = (a.operand(own, sparing), b.operand(own + 1, sparing));
                format!("{left} {operator}{right}")
            }
        }
    }

    fn operand(&self, needed: u8, sparing: bool) -> String {
        let own = match self {
            Sum::Number(_) => 9,
            Sum::Negated(_) => 3,
            Sum::Two(_, operator, _) => strength(*operator),
        };
        let text = self.text(sparing);
        if sparing && own >= needed { text } else { format!("({text})") }
    }

    /// Its worth, cut toward zero only in `%`, which wants whole numbers anyway.
    fn value(&self) -> Option<i128> {
        match self {
            Sum::Number(n) => Some(i128::from(*n)),
            Sum::Negated(a) => a.value()?.checked_neg(),
            Sum::Two(a, operator, b) => {
                let (a, b) = (a.value()?, b.value()?);
                match operator {
                    '+' => a.checked_add(b),
                    '-' => a.checked_sub(b),
                    '*' => a.checked_mul(b),
                    _ => a.checked_rem(b),
                }
            }
        }
    }
}

fn strength(operator: char) -> u8 {
    if matches!(operator, '+' | '-') { 1 } else { 2 }
}

fn sums() -> impl Strategy<Value = Sum> {
    let leaf = any::<u32>().prop_map(Sum::Number);
    leaf.prop_recursive(6, 40, 2, |inner| {
        let operator = prop::sample::select(vec!['+', '-', '*', '%']);
        prop_oneof![
            inner.clone().prop_map(|a| Sum::Negated(Box::new(a))),
            (inner.clone(), operator, inner).prop_map(|(a, operator, b)| Sum::Two(
                Box::new(a),
                operator,
                Box::new(b)
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_sum_is_worth_what_its_tree_is(sum in sums(), sparing in any::<bool>()) {
        let text = sum.text(sparing);
        let wanted = sum.value().and_then(|value| i64::try_from(value).ok());
        prop_assert_eq!(evaluate(&text, Suffixes::Plain).ok(), wanted, "{}", text);
        let within = rewrite(&format!("a,({text}),b"), Suffixes::Plain).ok().map(String::from);
        prop_assert_eq!(within, wanted.map(|value| format!("a,{value},b")));
    }

    #[test]
    fn a_power_is_a_product(base in 0_i64..100, exponent in 0_u32..10) {
        let wanted = base.checked_pow(exponent);
        prop_assert_eq!(evaluate(&format!("{base}^{exponent}"), Suffixes::Plain).ok(), wanted);
    }

    #[test]
    fn no_text_is_too_odd_for_arithmetic(text in "[-+*/%^() 0-9.xkmusb]{0,40}") {
        let _ = evaluate(&text, Suffixes::Time);
        let _ = rewrite(&text, Suffixes::Plain);
    }

    #[test]
    fn no_bytes_are_too_odd_for_the_lexer(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut last = 0;
        for line in lines(&bytes) {
            let (number, column) = match &line {
                Ok(line) => (line.number, line.column),
                Err(bad) => (bad.number, bad.column),
            };
            prop_assert!(number > last && column > 0);
            last = number;
        }
    }

    #[test]
    fn what_is_written_as_a_line_is_read_as_that_line(
        name in "[a-z_][a-z_0-9]{0,12}", value in "[^;#\n\r\0]{0,40}", indent in "[ \t]{0,4}",
    ) {
        prop_assume!(!name.starts_with("include"));
        let text = format!("{indent}{name}={value}\n");
        let wanted = value.trim_ascii_end();
        match lines(text.as_bytes()).next().unwrap().unwrap().body {
            Body::Setting { name: read, value: Some(read_value), .. } => {
                prop_assert_eq!(read, name);
                prop_assert_eq!(read_value, wanted);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn no_bytes_are_too_odd_for_a_job_file(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let files = HashMap::from([("f", bytes)]);
        let mut faults = Vec::new();
        let sections = read("f", &files, &FixtureHost, &mut faults);
        for section in sections {
            prop_assert!(section.entries.iter().all(|entry| !entry.written.is_empty()));
        }
    }
}
