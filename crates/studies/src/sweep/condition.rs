//! `--where 'iodepth*numjobs<=256'`: which points of a grid are run.

use super::grid::{GridPoint, number};

/// A condition on points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointCondition {
    text: String,
}

impl PointCondition {
    /// From comparisons of sums and products, joined by `and`; names are options
    /// of the axes.
    ///
    /// # Errors
    /// It is not of that form.
    pub fn parse(text: &str) -> Result<PointCondition, String> {
        let condition = PointCondition { text: text.to_owned() };
        // With a value for every name its form can be tried.
        condition.evaluate(&|_| Some(1.0))?;
        Ok(condition)
    }

    /// Whether it holds for a point.
    ///
    /// # Errors
    /// A name is not an option of the axes, or its value is no number.
    pub fn holds(&self, point: &GridPoint) -> Result<bool, String> {
        self.evaluate(&|name| number(point.value(name)?))
    }

    fn evaluate(&self, value_of: &dyn Fn(&str) -> Option<f64>) -> Result<bool, String> {
        let mut reader = ConditionReader { rest: &self.text, value_of };
        let holds = reader.conditions().and_then(|holds| match reader.peek() {
            None => Ok(holds),
            Some(_) => Err(format!("unexpected {:?}", reader.rest)),
        });
        holds.map_err(|why| {
            format!(
                "invalid condition {:?}: {why}: use comparisons as iodepth*numjobs<=256",
                self.text
            )
        })
    }
}

/// How two numbers are compared.
type Compare = fn(f64, f64) -> bool;

struct ConditionReader<'a> {
    rest: &'a str,
    value_of: &'a dyn Fn(&str) -> Option<f64>,
}

impl ConditionReader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Take a word if it comes next.
    fn take(&mut self, word: &str) -> bool {
        self.peek();
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn conditions(&mut self) -> Result<bool, String> {
        let mut holds = self.comparison()?;
        while self.take("and") || self.take("&&") {
            holds &= self.comparison()?;
        }
        Ok(holds)
    }

    fn comparison(&mut self) -> Result<bool, String> {
        let left = self.sum()?;
        let operators: [(&str, Compare); 7] = [
            ("<=", |a, b| a <= b),
            (">=", |a, b| a >= b),
            ("!=", |a, b| a != b),
            ("==", |a, b| a == b),
            ("<", |a, b| a < b),
            (">", |a, b| a > b),
            ("=", |a, b| a == b),
        ];
        let operator = operators.into_iter().find(|(word, _)| self.take(word));
        let (_, compare) =
            operator.ok_or_else(|| format!("no comparison before {:?}", self.rest))?;
        Ok(compare(left, self.sum()?))
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value += self.product()?;
            } else if self.take("-") {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.operand()?;
        loop {
            if self.take("*") {
                value *= self.operand()?;
            } else if self.take("/") {
                value /= self.operand()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn operand(&mut self) -> Result<f64, String> {
        if self.take("(") {
            let value = self.sum()?;
            return if self.take(")") { Ok(value) } else { Err("a ( is not closed".into()) };
        }
        self.peek();
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_.:%".contains(letter);
        let end = self.rest.find(|letter| !is_word(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.is_empty() {
            return Err("a value is missing".into());
        }
        let value = number(word).or_else(|| (self.value_of)(word));
        value.ok_or_else(|| format!("{word:?} is no option of --over with a number for its value"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::grid::{SweepAxis, points};

    fn kept(condition: &str) -> Result<Vec<String>, String> {
        let axes = ["iodepth=1..64*8", "numjobs=1,4,16", "bs=4k"];
        let axes: Vec<SweepAxis> =
            axes.iter().map(|axis| SweepAxis::parse(axis).unwrap()).collect();
        let condition = PointCondition::parse(condition)?;
        let mut kept = Vec::new();
        for point in points(&axes) {
            if condition.holds(&point)? {
                kept.push(point.text());
            }
        }
        Ok(kept)
    }

    #[test]
    fn points_are_kept_by_what_their_values_make() {
        assert_eq!(kept("iodepth*numjobs<=8").unwrap().len(), 3);
        assert_eq!(kept("iodepth * numjobs > 8 and numjobs != 16").unwrap().len(), 3);
        assert_eq!(kept("(iodepth+numjobs)*2 = 10 && bs >= 4k").unwrap().len(), 1);
        assert_eq!(kept("iodepth/numjobs=2").unwrap(), ["iodepth=8 numjobs=4 bs=4k"]);
    }

    #[test]
    fn a_wrong_condition_is_refused_with_what_is_wrong() {
        for (text, said) in [
            ("iodepth", "no comparison"),
            ("iodepth<", "a value is missing"),
            ("(iodepth<8", "a ( is not closed"),
            ("iodepth<8 numjobs", "unexpected"),
            ("depth<8", "\"depth\" is no option of --over"),
        ] {
            let error = kept(text).unwrap_err();
            assert!(error.contains(said) && error.contains("iodepth*numjobs"), "{text}: {error}");
        }
    }
}
