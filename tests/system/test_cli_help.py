"""Help, manual pages and mistakes: what a person meets before any job runs."""

import re

import pytest

from conftest import ROOT

MANUAL = ROOT / "docs" / "man"


def commands_of(muster):
    return re.findall(r"^  ([\w-]+) {2,}\S", muster("help", code=0).stdout, re.MULTILINE)


def options_of(muster, command):
    """(letter or None, name) of each option that --help shows."""
    text = muster(command, "--help", code=0).stdout
    return re.findall(r"^  (?:-(\w), |    )--([\w-]+)", text, re.MULTILINE)


def test_help_lists_every_command_and_each_has_its_own(muster):
    commands = commands_of(muster)
    assert {"ps", "status", "wait", "stop", "delete", "render", "help", "version"} <= set(commands)
    for command in commands:
        text = muster("help", command, code=0).stdout
        assert text.startswith(f"muster {command}: ")
        assert f"Usage: muster {command}" in text
        assert muster(command, "--help", code=0).stdout == text
        assert muster(command, "-h", code=0).stdout == text


def old_programs_of(muster):
    return muster("compat", code=2).stderr.strip().partition("(expected one of ")[2].removesuffix(")").split(", ")


def test_each_line_of_any_help_is_whole_and_within_100_columns(muster):
    texts = {"help": muster("help", code=0).stdout}
    for command in commands_of(muster):
        texts[command] = muster("help", command, code=0).stdout
    for program in old_programs_of(muster):
        texts[f"compat {program}"] = muster("compat", program, "--help", code=0).stdout
    assert len(texts) > 25
    lines = [(name, line) for name, text in texts.items() for line in text.splitlines()]
    assert not [line for line in lines if len(line[1]) > 100 or "(null)" in line[1]]


def test_the_sentences_of_all_commands_begin_in_one_column(muster):
    rows = re.findall(r"^(  [\w-]+ +)\S", muster("help", code=0).stdout, re.MULTILINE)
    assert len(rows) > 20
    assert len({len(row) for row in rows}) == 1


def test_help_of_run_has_its_options_in_groups_each_once(muster):
    text = muster("help", "run", code=0).stdout
    headings = re.findall(r"^([A-Z][\w ]+):$", text, re.MULTILINE)
    assert headings == ["Job", "Processes", "Restart and stop", "Output", "Kubernetes", "Global", "Examples"]
    groups = dict(zip(headings, re.split(r"^[A-Z][\w ]+:$", text, flags=re.MULTILINE)[1:]))
    for heading, option in [("Job", "--file"), ("Processes", "--workers"), ("Restart and stop", "--grace"),
                            ("Output", "--quiet"), ("Kubernetes", "--image"), ("Global", "--state-dir")]:
        assert re.search(rf"^ .*{option}\b", groups[heading], re.MULTILINE), heading
    names = [name for _, name in options_of(muster, "run")]
    assert len(set(names)) == len(names)


def test_every_option_is_in_the_manual_page_of_its_command(muster):
    for command in commands_of(muster):
        page = (MANUAL / f"muster-{command}.1").read_text()
        described = set(re.findall(r"^\.It Fl (?:\w , Fl )?-([\w-]+)", page, re.MULTILINE))
        letters = dict(re.findall(r"^\.It Fl (\w) , Fl -([\w-]+)", page, re.MULTILINE))
        options = options_of(muster, command)
        assert described == {name for _, name in options}, command
        assert letters == {letter: name for letter, name in options if letter}, command


def test_the_page_of_muster_names_every_command(muster):
    page = (MANUAL / "muster.1").read_text()
    for command in commands_of(muster):
        assert f".It Cm {command}\n" in page
        assert f".Xr muster-{command} 1" in page


def test_the_page_of_muster_names_every_variable(muster):
    page = (MANUAL / "muster.1").read_text()
    for command in commands_of(muster):
        for variable in re.findall(r"\[(MUSTER_\w+)\]$", muster("help", command, code=0).stdout, re.MULTILINE):
            assert variable in page


def test_muster_alone_shows_the_commands(muster):
    assert muster(code=0).stdout == muster("help", code=0).stdout == muster("--help", code=0).stdout


def test_the_version_is_one_line(muster):
    text = muster("version", code=0).stdout
    assert re.fullmatch(r"muster \d+\.\d+\.\d+\n", text)
    assert muster("--version", code=0).stdout == text


@pytest.mark.parametrize("word, meant", [("staus", "status"), ("pss", "ps"), ("rendr", "render"),
                                         ("local_test.sh", "compat local_test")])
def test_an_unknown_command_is_told_with_the_nearest_one(muster, word, meant):
    done = muster(word, code=2)
    assert f"did you mean 'muster {meant}'?" in done.stderr
    assert done.stdout == ""


def test_all_mistakes_of_a_call_are_told_at_once(muster):
    done = muster("ps", "--al", "-o", "jsn", "extra", code=2)
    assert done.stderr.splitlines() == [
        "muster ps: --al: no such option; did you mean --all?",
        "muster ps: -o: 'jsn' is not one of json|yaml|wide|name; did you mean 'json'?",
        "muster ps: unexpected argument 'extra'; to show one job: 'muster status JOB'",
        "Run 'muster ps --help' for usage.",
    ]


def test_a_wrong_variable_is_a_mistake_that_names_it(muster):
    done = muster("render", "--", "true", code=2, env={"MUSTER_MAX_RESTARTS": "many"})
    assert "MUSTER_MAX_RESTARTS: " in done.stderr


def test_data_that_cannot_be_written_is_not_lost_silently(muster):
    with open("/dev/full", "w") as full:
        done = muster("version", stdout=full)
    assert done.returncode == 1
    assert done.stderr == "muster: standard output: No space left on device\n"
