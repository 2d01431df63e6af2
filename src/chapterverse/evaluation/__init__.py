"""Evaluation: how often a book's answers are right, supported and rightly refused, on anybody's own questions.

    questions ─▶ run ─▶ measures ─▶ report          drafts      questions to begin with
                 │          └────▶ compare          calibrate   the threshold for answering
                 └ support (checks every sentence without the gate's help)

A run is plain data. Every figure is computed from it alone, so that a stored run can be read, compared and doubted.
"""
