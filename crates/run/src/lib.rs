//! Plan, lay out, conduct, account: from a job specification to a report.
