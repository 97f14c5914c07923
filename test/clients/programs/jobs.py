"""Prints the state of each job."""

import os
import re
import time
from urllib.parse import parse_qs, urlsplit

import httpx

from client import AuthenticatedClient
from client.api.jobs import list_recent_jobs, read_job
from client.models import JobStatus, Problem, ProblemCode
from client.types import UNSET


class Patient(httpx.HTTPTransport):
    """Repeats a request that came too soon, after the seconds in Retry-After. A spent allowance lasts until the next day."""

    def handle_request(self, request):
        while True:
            response = super().handle_request(request)
            seconds = int(response.headers.get("Retry-After", 1))
            if response.status_code not in (429, 503) or seconds > 60:
                return response
            response.close()
            time.sleep(seconds)


def next_of(headers):
    """The cursor of the next page, from the header Link; None on the last one."""
    found = re.search('<([^>]*)>; rel="next"', headers.get("link", ""))
    return found and parse_qs(urlsplit(found[1]).query)["cursor"][0]


client = AuthenticatedClient(
    base_url=os.environ["BASE_URL"], token=os.environ["TOKEN"], httpx_args={"transport": Patient()}
)

cursor = UNSET
while cursor is not None:
    page = list_recent_jobs.sync_detailed(client=client, cursor=cursor)
    if page.status_code >= 300:
        raise SystemExit(page.content.decode())
    for listed in page.parsed or []:
        job = read_job.sync(str(listed.job_id), client=client)
        if isinstance(job, JobStatus):
            print(listed.job_id, job.status)
        elif isinstance(job, Problem) and job.code == ProblemCode.JOB_NOT_FOUND:
            print(listed.job_id, "expired")
        else:
            raise SystemExit(job)
    cursor = next_of(page.headers)
