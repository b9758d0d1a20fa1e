"""Published experiments, run again: one package per paper.

``data`` reads the data sets, ``store`` keeps results and resumes, ``measures`` scores, ``records`` says what is kept of
a fit, ``selection`` chooses among models without test data, and ``page`` writes what is shown. The experiments
themselves stand in packages named for their papers, such as ``beck2015``.
"""
