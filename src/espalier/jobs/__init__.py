"""Jobs and what they may use: threads, memory, whom to tell how far they are. Knows no kernel and no learner."""

from espalier.jobs.progress import Progress as Progress
