"""`python -m attnlib.grading COMMAND`: student versions and a student branch, the proof of the tests, grades."""

import argparse
import gc
import sys

from attnlib.extras import extra
from attnlib.grading.command_line import parser

#: Exit codes: everything is well; something is not; the command was used wrongly.
WELL, NOT_WELL, WRONG_USE = 0, 1, 2


def main(arguments: list[str] | None = None) -> int:
    """Run one command."""
    options = parser(__doc__).parse_args(arguments)
    try:
        with extra("grading"):
            return globals()[f"run_{options.command}"](options)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"{error}", file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        print("Stopped. Nothing was written.", file=sys.stderr)
        return 130


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

    gc.freeze()  # a collector that looks at all that was imported would be time of the answer it comes upon
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
    from attnlib.grading import assignment, feedback, give_back, report, similarity, variants
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

    if options.variants and options.seed:
        raise ValueError("--variants says who has which variant; --seed would say that all have one.")
    settings = Options(
        seed=options.seed,
        variants=variants.read_manifest(options.variants, name) if options.variants else None,
        inputs=options.inputs,
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
    if options.similar:
        code = {student: result.code for student, result in graded.results.items()}
        similarity.write(similarity.pairs(code, assignment.answers(graded.release)), options.similar)
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
