//! The job file of a workload with a user's options.

use super::preset::Preset;
use iosonde_base::text::short_size;
use iosonde_options::OptionDef;

/// A backup is larger than the page cache and than a drive's fast cache.
const BACKUP_BYTES_LEAST: u64 = 64 << 30;

/// The job file: at the end of each section the options of `with`, which replace what it
/// said before.
///
/// # Errors
/// A word is not an option and a value.
pub fn job_text(preset: &Preset, with: &[String]) -> Result<String, String> {
    let bytes = (2 * iosonde_sys::memory::total_bytes()).max(BACKUP_BYTES_LEAST);
    let text = preset.job.replace("@size@", &short_size(bytes >> 20 << 20));
    let mut more = String::new();
    for word in with {
        let (option, value) = option_of(word)?;
        let value = value.map_or(String::new(), |value| format!("={value}"));
        more.push_str(&format!("{}{value}\n", option.name));
    }
    let (head, sections) = text.split_once("\n[").unwrap_or((&text, ""));
    let section = |section: &str| {
        let more = if section.starts_with("global]") { "" } else { &more };
        format!("\n[{}\n{more}", section.trim_end())
    };
    Ok(head.to_owned() + &sections.split("\n[").map(section).collect::<String>())
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
        let meant = match iosonde_spec::nearest_option(name) {
            Some(near) => format!("did you mean {near}?"),
            None => "use OPTION=VALUE with an option of jobs".to_owned(),
        };
        return Err(format!("--with {word:?}: unknown option {name:?}: {meant}"));
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

#[cfg(test)]
mod tests {
    use super::super::presets::PRESETS;
    use super::*;

    #[test]
    fn a_mistyped_option_names_the_one_it_is_near() {
        let why = option_of("rwmixrd=3").unwrap_err();
        assert!(why.ends_with("unknown option \"rwmixrd\": did you mean rwmixread?"), "{why}");
    }

    #[test]
    fn an_option_is_set_last_in_each_section() {
        let desktop = PRESETS.iter().find(|preset| preset.name == "desktop").unwrap();
        let text = job_text(desktop, &["runtime=1".into(), "blocksize=8k".into()]).unwrap();
        assert_eq!(text.matches("stonewall\nruntime=1\nbs=8k\n").count(), 8, "{text}");
        let etcd = PRESETS.iter().find(|preset| preset.name == "etcd-wal").unwrap();
        let text = job_text(etcd, &["size=1m".into()]).unwrap();
        assert!(text.contains("\n[etcd-wal]\n") && text.ends_with("\nsize=1m\n"), "{text}");
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
