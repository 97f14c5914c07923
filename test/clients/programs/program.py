"""A customer's program with the client of openapi-python-client. Prints what it got, as JSON."""

import io
import json
import os
import time

from client import AuthenticatedClient
from client.api.media import upload_image
from client.api.messages import send_message
from client.api.research_profilers import answer_profiler, create_profiler
from client.api.statistics import list_logs
from client.api.user_data import fetch_user_data, start_user_data_request
from client.models import (
    AcceptedMessage,
    Answer,
    CreatedProfiler,
    GrantedResult,
    MessageText,
    NewProfiler,
    NewUserDataRequest,
    PropertyName,
    RequestedProperty,
    StartedUserDataRequest,
    TextMessage,
    Upload,
    UploadedMedia,
    UserData,
)
from client.types import File

panelist = os.environ["PANELIST"]
client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["TOKEN"])

text = TextMessage(to=panelist, type_="text", text=MessageText(body="Good morning from Python!"))
sent = send_message.sync(client=client, body=text)
assert isinstance(sent, AcceptedMessage), sent

created = create_profiler.sync(client=client, body=NewProfiler(question="What do you drink?", options=["Tea", "Coffee"]))
assert isinstance(created, CreatedProfiler), created
answer = Answer(
    profiler_id=str(created.profiler_id), option_id=created.options["tea"], phone_number=panelist
)
assert answer_profiler.sync_detailed(client=client, body=answer).status_code == 204

logs = []
for _ in range(20):
    logs = list_logs.sync(client=client, contact=panelist, limit=1000) or []
    assert isinstance(logs, list), logs
    if any(entry.id == sent.id for entry in logs):
        break
    time.sleep(0.5)

request = NewUserDataRequest(
    reason="To support your phone", data=[RequestedProperty(property_=PropertyName.DEVICE_PLATFORM)]
)
started = start_user_data_request.sync(panelist, client=client, body=request)
assert isinstance(started, StartedUserDataRequest), started
fetched = fetch_user_data.sync(str(started.request_id), client=client, long_poll=5)
assert isinstance(fetched, UserData), fetched
granted = fetched.results["device_platform"]
assert isinstance(granted, GrantedResult), granted

with open(os.environ["PICTURE"], "rb") as picture:
    file = File(payload=io.BytesIO(picture.read()), file_name="picture.png", mime_type="image/png")
uploaded = upload_image.sync(client=client, body=Upload(file=file))
assert isinstance(uploaded, UploadedMedia), uploaded

print(
    json.dumps(
        {
            "message": str(sent.id),
            "profiler": str(created.profiler_id),
            "logged": any(entry.id == sent.id and entry.state == "sent" for entry in logs),
            "request": str(started.request_id),
            "platform": granted.value,
            "picture": uploaded.url,
        }
    )
)
