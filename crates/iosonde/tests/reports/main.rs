//! What the program writes: reports, the ledger, logs, the status line, messages.

#[path = "../support/mod.rs"]
mod support;

mod html;
mod ledger;
mod ledger_gaps;
mod ledger_layers;
mod ledger_limits;
mod live_line;
mod live_screen;
mod logs;
mod metrics;
mod outcomes;
mod outputs;
mod outputs_clients;
mod outputs_mistakes;
mod reference_values;
mod whole_outputs;
