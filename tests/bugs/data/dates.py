"""Bugs of one line in attnlib/data/dates.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/dates.py", "data/test_dates.py",
    ("only the first of two dates is clear", "if any(ambiguous(day, pattern) for day, pattern in drawn):",
     "if ambiguous(*drawn[0]):", "test_every_source_has_one_meaning"),
    ("the 12th taken for clear", "day.day <= 12", "day.day < 12"),
    ("2021-04-03 taken for ambiguous", ' and fields[0][0] != "y"', ""),
    ("dates leak into testing", "days[part_of(day.isoformat())].append(day)",
     "[days[part].append(day) for part in days]"),
    ("dates in parts by the seed", "part_of(day.isoformat())", 'part_of(f"{day.isoformat()}{seed}")'),
    ("31 December never comes", "datetime.date(years[1], 12, 31).toordinal() + 1)",
     "datetime.date(years[1], 12, 31).toordinal())"),
    ("span one short", "spans[field] = (start, len(text))", "spans[field] = (start, len(text) - 1)"),
    ("links of the second date point into the first", "first, behind = (len(source) + place for place in",
     "first, behind = (place for place in"),
    ("date links the wrong way round", "possible |= {(i, j) for i in places", "possible |= {(j, i) for i in places"),
    ("sure digits aligned at the left", "sure |= {(places[-k], behind - k) for k in range(1, len(text) + 1)}",
     "sure |= {(places[k - 1], first + k - 1) for k in range(1, len(text) + 1)}"),
    ("first sure digit lost", "for k in range(1, len(text) + 1)}", "for k in range(1, len(text))}"),
)
