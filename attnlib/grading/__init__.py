"""The grader, for instructors: a class in a sandbox, flags, feedback, what students get, and the proof of the tests.

It works on a clone: sources and known answers lie in `assignments/`, and in no installed copy.
"""
