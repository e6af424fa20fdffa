"""The grading desk: one local page on which a person grades texts, corrects points, and sees the class.

`kept` reads what `grade` has left in the course folder, `store` holds what people decide, `groups` puts equal answers
together, `marks` turns decisions into points, `late` takes points off, `summary` counts, `export` writes, and `server`
shows all of it to a browser on this machine.
"""
