from espalier.jobs.executor import Executor as Executor
from espalier.jobs.executor import Job as Job
from espalier.jobs.executor import run_jobs as run_jobs
from espalier.jobs.processes import Processes as Processes
from espalier.jobs.progress import Progress as Progress

__all__: list[str]
