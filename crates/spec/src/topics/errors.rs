//! What is done about errors.

use iosonde_options::{Category, FioSupport, options};

use crate::values::{ContinueOnError, IgnoreErrors};

options! {
    /// Errors
    pub struct ErrorsOptions in Category::Error {
        /// Continue after these errors, and count them.
        continue_on_error: ContinueOnError = "none" as "continue_on_error" {
            good: &["none", "read", "write", "io", "verify", "all", "0", "1"],
            bad: &["trim", "some"],
        }
        /// Errors that do not end the job: lists for reads, writes and verification.
        ///
        /// `EAGAIN,ENOSPC:122` lets reads fail with EAGAIN and writes with ENOSPC or error
        /// 122. Overrides `continue_on_error` where a list is given.
        ignore_error: IgnoreErrors = "" as "ignore_error" {
            fio: FioSupport::Differs("an unknown error name is refused; fio ignores it"),
            good: &["EIO", "EIO:ENOSPC,EINVAL", "EAGAIN,ENOSPC:122", ",,EILSEQ"],
        }
        /// Print every error, not only the one that ends the job.
        error_dump: bool = "0" as "error_dump" {}
        /// End the jobs that `exit_what` names when this job fails.
        exitall_on_error: bool = "0" as "exitall_on_error" {
            bare: Some("1"),
        }
    }
}
