//! The table of options, held to its own rules, to fio's list of names, and to the fio that
//! is installed.

use std::collections::HashSet;
use std::process::Command;

use iosonde_options::{Built, Category, FioSupport, OptionDef, Origin, ParseContext, ValueKind};
use iosonde_spec::{Caps, JobSpec, all, engine_options, lookup, resolve};

/// The names and aliases of fio 3.42 (its HOWTO's groups), `name/alias/alias`.
const NAMES: &str = "
kb_base unit_base
description name loops numjobs
startdelay runtime/timeout time_based ramp_time ramp_size clocksource gtod_reduce gtod_cpu
job_start_clock_id
filename filetype directory filename_format unique_filename lockfile opendir nrfiles/nr_files
openfiles file_service_type ioscheduler zonemode zonesize zonecapacity zonerange zoneskip
read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits zone_reset_threshold
zone_reset_frequency recover_zbd_write_error create_serialize create_fsync create_on_open
create_only allow_file_create allow_mounted_write pre_read unlink unlink_each_loop
rw/readwrite rw_sequencer offset/fileoffset offset_align offset_increment number_ios
randrepeat/allrandrepeat randseed norandommap softrandommap sprandom spr_num_regions spr_op
spr_cs random_generator random_distribution random_sequence_stride percentage_random fallocate
fadvise_hint fsync fdatasync write_barrier sync_file_range direct buffered overwrite rwmixread
rwmixwrite write_hint end_fsync fsync_on_close end_syncfs unified_rw_reporting
bs/blocksize ba/blockalign bsrange/blocksize_range bssplit bs_unaligned/blocksize_unaligned
bs_is_seq_rand
mem/iomem iomem_align/mem_align lockmem invalidate sync zero_buffers refill_buffers
scramble_buffers buffer_pattern buffer_compress_percentage buffer_compress_chunk
dedupe_percentage dedupe_global dedupe_mode dedupe_working_set_percentage hugepage-size
size io_size/io_limit fill_device/fill_fs filesize file_append
ioengine
num_range atomic fdp dataplacement/data_placement plid_select/fdp_pli_select plids/fdp_pli
dp_scheme
iodepth iodepth_batch/iodepth_batch_submit iodepth_batch_complete_min/iodepth_batch_complete
iodepth_batch_complete_max iodepth_low serialize_overlap io_submit_mode
thinktime thinktime_spin thinkcycles thinktime_blocks thinktime_blocks_type thinktime_iotime
rate rate_min/ratemin rate_iops rate_iops_min rate_process rate_cycle/ratecycle
rate_ignore_thinktime
max_latency latency_target latency_window latency_percentile latency_run
write_iolog read_iolog read_iolog_chunked replay_no_stall replay_redirect replay_scale
replay_align replay_time_scale replay_skip merge_blktrace_file merge_blktrace_scalars
merge_blktrace_iters
wait_for exec_prerun exec_postrun comm nice prio prioclass priohint cpumask cpus_allowed
cpus_allowed_policy numa_cpu_nodes numa_mem_policy exitall exit_what
stonewall/wait_for_previous thread cgroup cgroup_nodelete cgroup_weight uid gid flow_id flow
flow_sleep
verify_only verify do_verify verify_policy verify_interval verify_offset verify_pattern
verify_pattern_interval verify_fatal verify_dump verify_async verify_backlog
verify_backlog_batch verify_async_cpus experimental_verify verify_state_load verify_state_save
verify_write_sequence verify_header_seed trim_percentage trim_verify_zero trim_backlog
trim_backlog_batch
steadystate/ss steadystate_duration/ss_dur steadystate_ramp_time/ss_ramp
steadystate_check_interval/ss_interval
new_group per_job_logs write_bw_log write_lat_log write_iops_log log_entries log_avg_msec
log_hist_msec log_hist_coarseness write_hist_log log_window_value/log_max_value log_offset
log_prio log_issue_time log_compression log_compression_cpus log_store_compressed
log_alternate_epoch/log_unix_epoch log_alternate_epoch_clock_id block_error_percentiles
bwavgtime iopsavgtime group_reporting stats clat_percentiles lat_percentiles slat_percentiles
percentile_list significant_figures disk_util disable_lat disable_clat disable_slat
disable_bw_measurement/disable_bw
exitall_on_error continue_on_error ignore_error error_dump
profile
percentage_sequential verifysort verifysort_nr write_zone_remainder rwmixcycle gpu_dev_id
flow_watermark";

/// Examples that fio 3.33 treats differently, and why. `name=value`.
const DIFFERS: &[(&str, &str)] = &[
    ("profile=act", "fio asks at once for the devices that the profile works on"),
    ("random_distribution=sequence:2,0,1", "newer than 3.33"),
    ("log_hist_coarseness=7", "3.33 accepts it; 3.42 has seven steps"),
];

fn engine_rows() -> impl Iterator<Item = (&'static str, &'static OptionDef)> {
    engine_options::tables()
        .iter()
        .flat_map(|table| table.options.iter().map(|row| (table.engines[0], row)))
}

fn every_row() -> impl Iterator<Item = &'static OptionDef> {
    all().chain(engine_rows().map(|(_, row)| row))
}

/// Sets one option in a separate job.
fn set(engine: Option<&str>, name: &str, value: &str) -> Result<JobSpec, String> {
    let mut spec = JobSpec::default();
    let origin = || Origin::CommandLine { index: 1 };
    if let Some(engine) = engine {
        spec.set("ioengine", Some(engine), origin()).map_err(|e| e.to_string())?;
    }
    spec.set(name, Some(value), origin()).map_err(|e| e.to_string())?;
    let errors = spec.private_errors();
    if errors.is_empty() { Ok(spec) } else { Err(format!("{errors:?}")) }
}

#[test]
fn every_name_and_alias_of_fio_is_there_and_no_other() {
    let mut wanted = HashSet::new();
    let mut aliases = 0;
    for entry in NAMES.split_whitespace() {
        let mut names = entry.split('/');
        let name = names.next().expect("a name");
        let row = lookup(name).unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(row.name, name, "{name} is canonical");
        for alias in names {
            let found = lookup(alias).unwrap_or_else(|| panic!("{alias} is missing"));
            assert_eq!(found.name, name, "{alias} is an alias of {name}");
            aliases += 1;
        }
        wanted.insert(name);
    }
    assert_eq!((wanted.len(), aliases), (251, 28));
    let extra: Vec<&str> = all().map(|row| row.name).filter(|n| !wanted.contains(n)).collect();
    // `fio --cmdhelp` has those of profiles only with their profile; job files may have them always.
    let of_profiles = [
        "threads",
        "numruns",
        "block",
        "dir",
        "device-names",
        "load",
        "test-duration",
        "threads-per-queue",
        "read-req-num-512-blocks",
        "large-block-op-kbytes",
        "prep",
    ];
    let is_ours = |name: &&&str| lookup(name).is_some_and(|row| row.fio == FioSupport::OursAlone);
    let (ours, extra): (Vec<&str>, Vec<&str>) = extra.iter().partition(is_ours);
    assert_eq!(ours, ["wear_out"], "names that are ours alone");
    assert_eq!(extra, of_profiles, "names that fio does not have");
    assert_eq!(all().map(|row| row.aliases.len()).sum::<usize>(), 28);
}

#[test]
fn every_private_option_of_engines_is_there() {
    let (ours, fios): (HashSet<_>, HashSet<_>) = engine_rows()
        .map(|(_, row)| (row.name, row.fio == FioSupport::OursAlone))
        .partition(|(_, is_ours)| *is_ours);
    assert_eq!(fios.len(), 118);
    let named = |name: &str| name.starts_with("sim_") || name.starts_with("tree_");
    assert!(ours.iter().all(|(name, _)| named(name)), "{ours:?}");
}

#[test]
fn no_name_is_there_twice() {
    let mut seen = HashSet::new();
    for row in all() {
        for name in std::iter::once(&row.name).chain(row.aliases) {
            assert!(seen.insert(*name), "{name} is there twice");
        }
    }
    for (_, row) in engine_rows() {
        assert!(lookup(row.name).is_none(), "{} is an option of all engines", row.name);
    }
}

#[test]
fn every_row_is_documented_and_its_columns_fit() {
    for row in every_row() {
        let name = row.name;
        assert!(row.summary().len() > 5, "{name} has a summary");
        assert!(row.doc[0].trim_end().ends_with(['.', ':']), "{name}: {:?}", row.doc[0]);
        // Of an option of an engine that is not built only the name is known.
        let can_be_set = row.deprecated.is_none() && row.category != Category::Engine;
        let dead = row.built == Built::No && !can_be_set;
        assert!(dead || !row.good.is_empty(), "{name} has an example");
        let closed = matches!(
            row.kind,
            ValueKind::Bool | ValueKind::Word | ValueKind::Int | ValueKind::Size
        );
        assert!(row.deprecated.is_some() || !closed || !row.bad.is_empty(), "{name} has a bad one");
        let known = |other: &&str| lookup(other).is_some();
        assert!(row.parent.iter().all(known), "{name}: parent");
        assert!(row.needs.iter().all(known), "{name}: needs");
        let words: Vec<&str> = row.choices.iter().map(|choice| choice.0).collect();
        assert!(row.unbuilt_words.iter().all(|word| words.contains(word)), "{name}: words");
    }
}

#[test]
fn good_examples_parse_and_bad_ones_are_refused() {
    for row in all() {
        for text in row.good {
            set(None, row.name, text).unwrap_or_else(|e| panic!("{}={text}: {e}", row.name));
        }
        for text in row.bad {
            assert!(set(None, row.name, text).is_err(), "{}={text} is refused", row.name);
        }
    }
    for (engine, row) in engine_rows() {
        for text in row.good {
            let done = set(Some(engine), row.name, text);
            done.unwrap_or_else(|e| panic!("{engine}: {}={text}: {e}", row.name));
        }
        for text in row.bad {
            assert!(set(Some(engine), row.name, text).is_err(), "{engine}: {}={text}", row.name);
        }
    }
}

/// A job of complete examples, `name=value`.
fn complete(options: &[String]) -> JobSpec {
    let mut spec = JobSpec::default();
    for (index, option) in options.iter().enumerate() {
        let (name, value) = option.split_once('=').expect("name=value");
        let set = spec.set(name, Some(value), Origin::CommandLine { index: index + 1 });
        set.unwrap_or_else(|error| panic!("{}: {error}", options.join(" ")));
    }
    spec
}

#[test]
fn each_example_is_a_complete_job() {
    let facts = Caps { trim: true, atomic: true, ..Caps::default() };
    let live = |row: &&OptionDef| row.deprecated.is_none();
    for row in all().filter(live) {
        for text in row.good {
            let own = format!("{}={text}", row.name);
            let options: Vec<String> =
                row.with.iter().map(|option| option.to_string()).chain([own]).collect();
            let mut spec = complete(&options);
            let unbuilt = spec.unbuilt();
            let mut found = resolve(&mut spec, &facts);
            found.retain(|diagnostic| !unbuilt.contains(diagnostic));
            assert_eq!(found, [], "{}", options.join(" "));
        }
        let given = |name: &&str| {
            let names = row.with.iter().filter_map(|option| option.split_once('='));
            *name == row.name || names.map(|(given, _)| given).any(|given| given == *name)
        };
        assert!(
            row.needs.is_empty() || row.needs.iter().any(given),
            "{}: its examples lack what it needs",
            row.name
        );
    }
}

#[test]
fn what_is_shown_reads_back_whatever_the_base() {
    for row in all() {
        for text in row.good {
            let spec = set(None, row.name, text).expect("a good example");
            let shown = spec.show(row.name).expect("a known name");
            let mut again = JobSpec::default();
            let origin = Origin::CommandLine { index: 1 };
            again.set("kb_base", Some("1000"), origin.clone()).expect("a base");
            let done = again.set(row.name, Some(&shown), origin);
            let doubts = done.unwrap_or_else(|e| panic!("{}={text} shown {shown}: {e}", row.name));
            let known = row.deprecated.is_some() || row.name == "kb_base" || doubts.is_empty();
            assert!(known, "{}={shown} is plain: {doubts:?}", row.name);
            assert_eq!(again.show(row.name), Some(shown), "{}={text}", row.name);
        }
    }
}

#[test]
fn defaults_read_back_too() {
    let spec = JobSpec::default();
    for row in all() {
        let shown = spec.show(row.name).expect("a known name");
        if !shown.is_empty() {
            let again = set(None, row.name, &shown);
            let again = match again {
                Err(e) if row.deprecated.is_some() => {
                    assert!(e.contains("retired"), "{e}");
                    continue;
                }
                done => done.unwrap_or_else(|e| panic!("{}={shown}: {e}", row.name)),
            };
            assert_eq!(again.show(row.name), Some(shown), "{}", row.name);
        }
    }
}

#[test]
fn a_job_asks_for_what_is_not_built_only_when_it_matters() {
    let unbuilt = |options: &[(&str, &str)]| -> Vec<String> {
        let mut spec = JobSpec::default();
        for (name, value) in options {
            spec.set(name, Some(value), Origin::CommandLine { index: 1 }).expect("an option");
        }
        spec.unbuilt().into_iter().map(|diagnostic| diagnostic.message).collect()
    };
    assert!(unbuilt(&[("verify", "md5"), ("verify_async", "2")]).is_empty());
    assert!(unbuilt(&[("zonemode", "zbd"), ("max_open_zones", "4")]).is_empty());
    assert!(unbuilt(&[("zonemode", "strided"), ("zonesize", "1m")]).is_empty());
    assert!(unbuilt(&[("log_avg_msec", "1000"), ("per_job_logs", "0")]).is_empty());
    assert_eq!(unbuilt(&[("ioengine", "rbd")]), ["option ioengine=rbd is not supported yet"]);
    let pool = unbuilt(&[("ioengine", "rbd"), ("pool", "x")]);
    let lines = ["option ioengine=rbd is not supported yet", "option pool is not supported yet"];
    assert_eq!(pool, lines, "whatever the value");
    assert!(unbuilt(&[("ioengine", "io_uring"), ("sqthread_poll", "1")]).is_empty());
    assert!(unbuilt(&[("ioengine", "io_uring"), ("md_per_io_size", "64")]).is_empty(), "no effect");
}

/// fio's own word on jobs with one option each: whether it takes them all, and what it says.
/// `None` if fio is not there.
fn fio_takes(options: &[String]) -> Option<(bool, String)> {
    let mut fio = Command::new("fio");
    fio.arg("--parse-only");
    for (index, option) in options.iter().enumerate() {
        fio.args([format!("--name=job{index}"), "--size=1m".into(), format!("--{option}")]);
    }
    let done = fio.output().ok()?;
    let diagnostic = String::from_utf8_lossy(&done.stderr) + String::from_utf8_lossy(&done.stdout);
    Some((done.status.success(), diagnostic.into_owned()))
}

/// The examples of a table that fio judges otherwise than we do.
fn judged_otherwise(examples: Vec<String>, ours: bool) -> Vec<String> {
    let takes = |options: &[String]| fio_takes(options).expect("fio is there");
    // Good ones go together: as long as all are accepted, one run is enough for many.
    let many = if ours { 40 } else { 1 };
    let doubtful = examples.chunks(many).filter(|chunk| takes(chunk).0 != ours).flatten();
    let described = doubtful.filter_map(|example| {
        let (theirs, diagnostic) = takes(std::slice::from_ref(example));
        (theirs != ours)
            .then(|| format!("{example}: fio takes it: {theirs}: {}", diagnostic.trim()))
    });
    described.collect()
}

#[test]
fn fio_takes_and_refuses_what_we_do() {
    if !iosonde_testing::has_fio() {
        return;
    }
    let help = Command::new("fio").arg("--cmdhelp=all").output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let knows: HashSet<&str> =
        help.lines().filter_map(|line| line.split(':').next()).map(str::trim).collect();
    let (mut good, mut bad, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for row in all() {
        if !knows.contains(row.name) {
            skipped.push(row.name);
            continue;
        }
        let pair = |text: &&str| format!("{}={text}", row.name);
        let same = |pair: &String| !DIFFERS.iter().any(|(known, _)| known == pair);
        good.extend(row.good.iter().map(pair).filter(same));
        bad.extend(row.bad.iter().map(pair).filter(same));
    }
    eprintln!(
        "{} good and {} bad examples held against fio; it does not know: {}",
        good.len(),
        bad.len(),
        skipped.join(" ")
    );
    assert!(good.len() + bad.len() > 700, "most of the table is held against fio");
    let mut wrong = judged_otherwise(good, true);
    wrong.extend(judged_otherwise(bad, false));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Options with defaults that fio words otherwise, and why.
const OTHER_DEFAULTS: &[(&str, &str)] = &[
    ("percentage_random", "the same for each direction"),
    ("steadystate", "fio's takes effect only once the option is given"),
];

/// Options with the bounds of fio 3.42, where 3.33 has others.
const OTHER_BOUNDS: [&str; 4] =
    ["filesize", "verify_interval", "verify_offset", "log_hist_coarseness"];

/// A line of `fio --cmdhelp=NAME`, by its label.
fn line<'a>(page: &'a str, label: &str) -> Option<&'a str> {
    page.lines().find_map(|line| line.trim_start().strip_prefix(label)).map(str::trim)
}

#[test]
fn defaults_bounds_and_words_are_those_of_fio() {
    if !iosonde_testing::has_fio() {
        return;
    }
    let ask = |name: &str| Command::new("fio").arg(format!("--cmdhelp={name}")).output();
    let mut held = 0;
    for row in all() {
        let page = ask(row.name).unwrap().stdout;
        let page = String::from_utf8_lossy(&page).into_owned();
        let Some(default) = line(&page, "default: ") else { continue };
        let other = OTHER_DEFAULTS.iter().any(|(name, _)| *name == row.name);
        if default != "no default" && !other {
            assert_eq!(row.default, default, "{}", row.name);
        }
        let ours =
            iosonde_options::render::cmdhelp_one(row, iosonde_options::render::HelpForm::Fio);
        if row.min.is_some() && !OTHER_BOUNDS.contains(&row.name) && row.kind != ValueKind::Time {
            assert_eq!(line(&ours, "range: "), line(&page, "range: "), "{}", row.name);
        }
        let word =
            |line: &str| line.get(22..).and_then(|rest| rest.split(' ').next().map(str::to_owned));
        let listed = page.lines().filter(|line| {
            line.get(..22)
                .is_some_and(|label| label.ends_with("valid values: ") || label.trim() == ":")
        });
        for theirs in listed.filter_map(word).filter(|_| row.kind != ValueKind::List) {
            let known = row.choices.iter().any(|(word, _)| *word == theirs);
            assert!(known, "{} has the word {theirs}", row.name);
        }
        held += 1;
    }
    assert!(held > 200, "{held} options held against fio");
}

#[test]
fn any_text_is_taken_or_refused_without_a_panic() {
    let texts = [
        "",
        " ",
        "-",
        "%",
        ":",
        ",",
        "/",
        "0x",
        "é",
        "1é",
        "k",
        "zipf:",
        "zoned:/",
        "\"",
        "'",
        "4k/",
        "1-",
        "-1-",
        "18446744073709551616",
        "99999999999p",
        "1e999",
        "nan",
        "a:b:c:d,,,",
    ];
    for row in every_row() {
        for text in texts {
            let _ = set(None, row.name, text);
            let _ = set(Some("io_uring"), row.name, text);
        }
    }
    let row = lookup("bs").expect("an option");
    assert_eq!(ParseContext::new(row).kb_base, 1024);
}
