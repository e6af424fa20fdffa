"""`python -m attnlib.grading COMMAND`: student versions and a student branch, the proof of the tests, grades."""

import argparse
import sys
from pathlib import Path

from attnlib.extras import extra

#: Exit codes: everything is well; something is not; the command was used wrongly.
WELL, NOT_WELL, WRONG_USE = 0, 1, 2


def main(arguments: list[str] | None = None) -> int:
    """Run one command."""
    options = parser().parse_args(arguments)
    try:
        with extra("grading"):
            return options.run(options)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"{error}", file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        print("Stopped. Nothing was written.", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """All commands and options."""
    text = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(prog="python -m attnlib.grading", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    release = commands.add_parser(
        "release",
        help="write the notebooks that students get",
        formatter_class=text,
        description="Write the notebooks that students get: no solution, no hidden test, no model answer.",
        epilog="Examples:\n"
        "  python -m attnlib.grading release                      all, into book/exercises\n"
        "  python -m attnlib.grading release --check              are those there right?\n"
        "  python -m attnlib.grading release a04 --seed 7 --to out    a variant of your own (grade with --seed 7)\n"
        "  python -m attnlib.grading release a04 --students class.csv --secret WORD --to out\n"
        "                                                            a variant for each (grade with --variants)",
    )
    release.set_defaults(run=run_release)
    _assignments(release)
    release.add_argument("--to", type=Path, metavar="FOLDER", help="where to write (default: book/exercises)")
    _seed(release)
    release.add_argument(
        "--students", type=Path, metavar="class.csv", help="a variant for each: names in the column `student`"
    )
    release.add_argument("--secret", default="", metavar="WORD", help="with --students: what only you know")
    release.add_argument("--check", action="store_true", help="write nothing; say what is not as its source, or leaks")

    publish = commands.add_parser(
        "publish",
        help="write the course without the sources of the assignments",
        formatter_class=text,
        description="Write the last commit without what .gitattributes keeps from students; look for secrets in it.",
        epilog="Examples:\n"
        "  python -m attnlib.grading publish --to ../student                     a folder\n"
        "  python -m attnlib.grading publish --to ../student --branch student    and a commit, to be pushed",
    )
    publish.set_defaults(run=run_publish)
    publish.add_argument("--to", type=Path, metavar="FOLDER", required=True, help="where to write; new or empty")
    publish.add_argument("--branch", metavar="NAME", help="make it the next commit of this branch, too")

    private = commands.add_parser(
        "private",
        help="make the assignments a repository of their own",
        formatter_class=text,
        description="Make the folder `assignments` a repository of its own, with its history, to be kept private.",
        epilog="Example, with which a public repository loses its assignments and you keep them:\n"
        "  python -m attnlib.grading private --to ../assignments      push it to where only you can read\n"
        "  python -m attnlib.grading publish --to ../public           the course without them, to be published\n"
        "  git clone ../assignments ../public/assignments             and your own copy has both, to grade with",
    )
    private.set_defaults(run=run_private)
    private.add_argument("--to", type=Path, metavar="FOLDER", required=True, help="where it is made; new or empty")

    prove = commands.add_parser(
        "prove",
        help="do all known answers lose exactly their points?",
        description="Run all known answers, right and wrong: each must lose exactly the points it deserves.",
    )
    prove.set_defaults(run=run_prove)
    _assignments(prove)
    _seed(prove)

    source = commands.add_parser(
        "source",
        help="write an assignment as nbgrader's source notebook",
        description="Write assignments with nbgrader's marks in every cell, for a gradebook of your own or another "
        "system that reads nbgrader's format. Solutions and hidden tests are in it: not for students.",
    )
    source.set_defaults(run=run_source)
    _assignments(source)
    source.add_argument(
        "--to", type=Path, metavar="FOLDER", required=True, help="where to write: FOLDER/NAME/NAME.ipynb"
    )
    _seed(source)

    grade = commands.add_parser(
        "grade",
        help="grade a class",
        formatter_class=text,
        description="Grade a class: points into a CSV file, a page for each student.\n\n"
        "SUBMISSIONS is the zip archive that Canvas, Moodle, Gradescope, Blackboard, Brightspace or Teams gives you,\n"
        "or a folder with a folder for each student. Students' code runs in a sandbox where there is one.",
        epilog="Status of each student in the CSV file:\n"
        "  graded           all points are there\n"
        "  needs a person   the text has to be read: put its points into written.csv and add --written written.csv\n"
        "  NOT GRADED       no points, also not 0; the column `why` says why\n\n"
        "Exit code: 0 when everybody was graded, 1 when somebody was not, 2 when the command was wrong.\n\n"
        "Examples:\n"
        "  python -m attnlib.grading grade a04 submissions.zip --out grades.csv --course course --texts texts\n"
        "  … read texts/texts.html, put points into texts/written.csv, and then\n"
        "  python -m attnlib.grading grade a04 submissions.zip --out grades.csv --course course \\\n"
        "      --written texts/written.csv --feedback feedback\n"
        "  … and, for Canvas or Moodle, with the table that you have downloaded there:\n"
        "      --give-back back --table gradebook.csv\n\n"
        "written.csv has a line for each student, by name as in grades.csv (or by id):\n"
        "  student,q4,comment\n"
        "  doe_jane,2.5,The blank row is missing.",
    )
    grade.set_defaults(run=run_grade)
    grade.add_argument("assignment", metavar="ASSIGNMENT", help="a04, or its full name")
    grade.add_argument("submissions", type=Path, metavar="SUBMISSIONS", help="a folder or a zip archive")
    grade.add_argument("--out", type=Path, required=True, metavar="grades.csv", help="where the points go")
    grade.add_argument("--feedback", type=Path, metavar="FOLDER", help="where the pages go: FOLDER/student/….html")
    grade.add_argument("--written", type=Path, metavar="written.csv", help="the points that you gave for texts")
    grade.add_argument(
        "--texts", type=Path, metavar="FOLDER", help="a page with all texts to read, and a written.csv to fill in"
    )
    grade.add_argument(
        "--give-back",
        type=Path,
        metavar="FOLDER",
        help="where the files go that Canvas or Moodle takes in bulk: a table of points, an archive of pages",
    )
    grade.add_argument(
        "--table",
        type=Path,
        metavar="FILE",
        help="with --give-back: the gradebook or the grading worksheet as downloaded, to be filled in",
    )
    grade.add_argument(
        "--column",
        default="",
        metavar="NAME",
        help="with --give-back: what the gradebook of Canvas calls the assignment",
    )
    grade.add_argument("--jobs", type=_positive, metavar="N", help="hand-ins at once (default: as many as cores)")
    _seed(grade)
    grade.add_argument("--no-sandbox", action="store_true", help="run students' code as you, on your files")
    grade.add_argument(
        "--seconds-per-cell", type=_positive, default=60, metavar="N", help="how long a cell may run (default: 60)"
    )
    grade.add_argument(
        "--course",
        type=Path,
        metavar="FOLDER",
        help="keep what was executed (with hidden tests: not for students); the next run grades only what is new",
    )
    _desk(commands)
    return top


def _desk(commands) -> None:
    desk = commands.add_parser(
        "desk",
        help="open the grading desk in a browser",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Open one page, on this machine alone, on which you read texts with a rubric, correct points, see\n"
        "the class, set late rules, and write what is given back. It works on what `grade --course FOLDER` has kept.\n"
        "Everything is saved at once, into FOLDER/ASSIGNMENT/desk.json; open it again and go on.",
        epilog="Examples:\n"
        "  python -m attnlib.grading desk a04 --course course\n"
        "  python -m attnlib.grading desk a04 --course course --to back --table gradebook.csv",
    )
    desk.set_defaults(run=run_desk)
    desk.add_argument("assignment", metavar="ASSIGNMENT", help="a04, or its full name")
    desk.add_argument("--course", type=Path, required=True, metavar="FOLDER", help="what `grade --course` was given")
    desk.add_argument(
        "--to", type=Path, metavar="FOLDER", help="where the export goes (default: FOLDER/ASSIGNMENT/given)"
    )
    desk.add_argument("--table", type=Path, metavar="FILE", help="as in `grade`: the table to be filled in")
    desk.add_argument("--column", default="", metavar="NAME", help="as in `grade`: what the gradebook calls it")
    desk.add_argument("--times", type=Path, metavar="FILE", help="a table `student,handed in`, for late rules")
    desk.add_argument("--port", type=int, default=0, metavar="N", help="default: one that is free")
    desk.add_argument("--no-browser", action="store_true", help="only print the address")
    desk.add_argument("--write", action="store_true", help="open nothing; write what the page writes under Give back")


def _assignments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="a04, or its full name (default: all)")


def _seed(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="which variant (default: 0, the published one)"
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _chosen(options: argparse.Namespace) -> list[str]:
    from attnlib.grading import assignment

    return [assignment.choose(name) for name in options.assignments] or assignment.names()


def run_release(options: argparse.Namespace) -> int:
    """Write or check student versions."""
    from attnlib.grading import release

    if (options.seed or options.students) and not options.to:
        raise ValueError("A variant goes into a folder of its own, not into the book: add --to FOLDER.")
    if options.students:
        return _release_to(options)
    folder = options.to or release.STUDENT
    found = []
    if folder == release.STUDENT and options.check:
        found += release.index_problems()
    elif folder == release.STUDENT:
        release.write_index()
    for name in _chosen(options):
        if options.check:
            found += release.problems(name, folder, options.seed)
        else:
            print(release.write(name, options.seed, folder))
            found += release.problems(name, folder, options.seed)
    for problem in found:
        print(problem, file=sys.stderr)
    if options.check and not found:
        print(f"{len(_chosen(options))} student versions are what their sources give, and hold no secret.")
    return NOT_WELL if found else WELL


def _release_to(options: argparse.Namespace) -> int:
    """Write a variant for each student."""
    from attnlib.grading import variants

    if options.seed or options.check or len(options.assignments) != 1:
        raise ValueError("--students takes one assignment, and neither --seed nor --check.")
    students = variants.read_roster(options.students)
    written = variants.write(options.assignments[0], students, options.secret, options.to)
    print(f"{written[-1]}: who of {len(students)} students has which variant. It is not for students.")
    return WELL


def run_publish(options: argparse.Namespace) -> int:
    """Write the tree for students."""
    from attnlib.grading import publish

    publish.write(options.to)
    print(f"{options.to}: the course without the sources of its assignments")
    if options.branch:
        print(f"{options.branch}: {publish.commit(options.to, options.branch)}")
    return WELL


def run_private(options: argparse.Namespace) -> int:
    """Split the assignments off."""
    from attnlib.grading import publish

    print(f"{options.to}: the assignments, with their history, at {publish.split(options.to)}")
    return WELL


def run_source(options: argparse.Namespace) -> int:
    """Write source notebooks."""
    import nbformat

    from attnlib.grading import assignment

    for name in _chosen(options):
        path = options.to / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(assignment.read(name, options.seed), path)
        print(path)
    return WELL


def run_prove(options: argparse.Namespace) -> int:
    """Run all known answers."""
    from attnlib.grading import assignment, proof
    from attnlib.grading.answers import answers_to

    bad = 0
    for name in _chosen(options):
        notebook, n = assignment.read(name, options.seed), 0
        full = assignment.tests(notebook)
        cases = {"(the model's)": ({}, {}), "(nothing written)": (proof.untouched(notebook), full)}
        cases |= {key: (answer.cells, answer.lost) for key, answer in answers_to(name, options.seed).items()}
        for key, (cells, must) in cases.items():
            lost, why = proof.lost(notebook, cells)
            n += lost == must
            if lost != must:
                print(f"{name} {key}: loses {lost or 'nothing'}, should lose {must or 'nothing'}. {why}")
        print(f"{name}: {n} of {len(cases)} answers get exactly their points.")
        bad += n != len(cases)
    return NOT_WELL if bad else WELL


def run_grade(options: argparse.Namespace) -> int:
    """Grade a class."""
    from attnlib.grading import assignment, feedback, give_back, report
    from attnlib.grading.desk import kept
    from attnlib.grading.grade import Options, grade

    if options.out.is_dir():
        raise ValueError(f"{options.out} is a folder; --out names a file: {options.out / 'grades.csv'}")
    if (options.table or options.column) and not options.give_back:
        raise ValueError("--table and --column belong to --give-back FOLDER.")
    name, notebook = assignment.choose(options.assignment), assignment.read(options.assignment, options.seed)
    written: dict[str, report.Written] = {}
    sheets: list[give_back.Sheet] = []

    def check(handins) -> None:
        if options.written:
            known = {handin.student: handin.id for handin in handins}
            written.update(report.read_written(options.written, notebook, known))
        if options.give_back:
            most = sum(report.maxima(notebook).values())
            title = feedback.title(notebook)
            sheets.append(give_back.sheet(handins, name, title, most, options.table, options.column))

    settings = Options(
        seed=options.seed,
        boxed=not options.no_sandbox,
        seconds=options.seconds_per_cell,
        folder=options.course,
        say=lambda words: print(f"Warning: {words}", file=sys.stderr),
    )
    if options.jobs:
        settings.jobs = options.jobs
    graded = grade(options.assignment, options.submissions, settings, check)
    if options.course:
        kept.keep(graded, options.course)  # as the tests left it: what a person gives is added by the desk
    report.add_written(graded, written)
    report.write_csv(graded, options.out)
    if options.feedback:
        feedback.write(graded, options.feedback, written)
    if options.texts:
        feedback.write_texts(graded, options.texts)
    print(report.spoken(graded))
    for sheet in sheets:
        for words in give_back.write(graded, sheet, options.give_back, written):
            print(f"given back: {words}")
    return WELL if report.everybody_graded(graded) else NOT_WELL


def run_desk(options: argparse.Namespace) -> int:
    """Serve the grading desk until somebody ends it."""
    from attnlib.grading import assignment
    from attnlib.grading.desk import server
    from attnlib.grading.desk.export import export

    name = assignment.choose(options.assignment)
    with server.opened(name, options.course, options.to, options.table, options.column, options.times) as desk:
        if options.write:
            print(*export(desk.marks, desk.folder, desk.table, desk.column), sep="\n")
        else:
            server.run(desk, options.port, not options.no_browser)
    return WELL


if __name__ == "__main__":
    sys.exit(main())
