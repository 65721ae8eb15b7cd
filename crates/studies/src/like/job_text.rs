//! The job file of a workload with a user's options.

use super::preset::Preset;
use iosonde_base::text::short_size;
use iosonde_options::OptionDef;

/// A backup is larger than the page cache and than a drive's fast cache.
const BACKUP_BYTES_LEAST: u64 = 64 << 30;

/// The job file: each option of `with` is set in `[global]`, and nowhere else.
///
/// # Errors
/// A word is not an option and a value.
pub fn job_text(preset: &Preset, with: &[String]) -> Result<String, String> {
    let bytes = (2 * iosonde_sys::memory::total_bytes()).max(BACKUP_BYTES_LEAST);
    let mut text = preset.job.replace("@size@", &short_size(bytes >> 20 << 20));
    let mut set: Vec<String> = Vec::new();
    for word in with {
        let (option, value) = option_of(word)?;
        text = without(&text, option.name);
        set.push(match value {
            Some(value) => format!("{}={value}", option.name),
            None => option.name.to_owned(),
        });
    }
    Ok(with_global(&text, &set))
}

/// The option and the value of a word of `--with`.
///
/// # Errors
/// It is none, or names the target.
pub fn option_of(word: &str) -> Result<(&'static OptionDef, Option<&str>), String> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (word.trim(), None),
    };
    let Some(option) = iosonde_spec::lookup(name) else {
        return Err(format!("--with {word:?}: use OPTION=VALUE with an option of jobs"));
    };
    if matches!(option.name, "filename" | "directory") {
        return Err(format!("--with {word:?}: name the directory, file or device as TARGET"));
    }
    if word.contains('\n') {
        Err(format!("--with {word:?}: an option is one line"))
    } else {
        Ok((option, value))
    }
}

/// A job file without an option, by any of its names.
fn without(text: &str, name: &str) -> String {
    let is_it = |line: &&str| {
        let option = line.split('=').next().unwrap_or_default().trim();
        iosonde_spec::lookup(option).is_some_and(|option| option.name == name)
    };
    text.lines().filter(|line| !is_it(line)).map(|line| format!("{line}\n")).collect()
}

/// A job file with more lines at the end of `[global]`, which is made before the
/// first section if there is none.
fn with_global(text: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return text.to_owned();
    }
    let more: String = lines.iter().map(|line| format!("{line}\n")).collect();
    match text.split_once("[global]\n") {
        Some((before, after)) => format!("{before}[global]\n{more}{after}"),
        None => {
            let at = text.find("\n[").map_or(0, |at| at + 1);
            format!("{}[global]\n{more}\n{}", &text[..at], &text[at..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets::PRESETS;
    use super::*;

    #[test]
    fn an_option_is_set_once_and_for_all_sections() {
        let desktop = PRESETS.iter().find(|preset| preset.name == "desktop").unwrap();
        let text = job_text(desktop, &["runtime=1".into(), "blocksize=8k".into()]).unwrap();
        assert!(text.contains("[global]\nruntime=1\nbs=8k\n"), "{text}");
        assert!(!text.contains("runtime=5") && !text.contains("bs=1m"), "{text}");
        let etcd = PRESETS.iter().find(|preset| preset.name == "etcd-wal").unwrap();
        let text = job_text(etcd, &["size=1m".into()]).unwrap();
        assert!(text.contains("\n[global]\nsize=1m\n\n[etcd-wal]\n"), "{text}");
        for wrong in ["none=1", "filename=/dev/sda", "bs=4k\nfilename=/x"] {
            assert!(job_text(etcd, &[wrong.into()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_workload_names_its_source() {
        for preset in PRESETS {
            assert!(
                preset.job.starts_with("# ") && preset.job.contains("# Source: "),
                "{}",
                preset.name
            );
            assert!(!job_text(preset, &[]).unwrap().contains('@'), "{}", preset.name);
        }
    }
}
