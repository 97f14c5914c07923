/** What the app network says about itself: each of its requests, to be pasted into a shell. */
export const helpFor = (url: string): string => `The simulated app network of the local stack.
The service sends to ${url}/app; what was taken is shown on phones.

See what came:
  curl ${url}/phones
  curl ${url}/phones/27821234567/messages
  curl '${url}/phones/27821234567/messages?all=true'    with what was never taken
  curl ${url}/calls
  curl -X DELETE ${url}/calls    forgets calls and messages

Say how calls are answered from now on (the normal answer is 204):
  curl -X PUT ${url}/behaviour -d '{"status":503,"retry_after":30,"times":2}'
  curl -X PUT ${url}/behaviour -d '{"status":400,"phone":"27821234567"}'
  curl -X PUT ${url}/behaviour -d '{"delay_ms":2000}'
  curl -X PUT ${url}/behaviour -d '{"drop":true}'    closes the connection
  curl -X PUT ${url}/behaviour -d '{"hang":true,"after":true}'    takes the message, never answers
  curl -X PUT ${url}/behaviour -d '[{"share":0.33,"status":500},{"share":0.33,"drop":true}]'    the first that applies
  curl ${url}/behaviour
  curl -X DELETE ${url}/behaviour    back to normal

Speak for the app; the answer is the service's ("event_id" repeats an event):
  curl ${url}/phones/27821234567/messages -d '{"to":"BOT NUMBER","text":"Hi"}'
  curl ${url}/messages/MESSAGE-ID/states -d '{"state":"read"}'    or delivered_to_user, delivery_failed with "reason"
  curl ${url}/phones/27821234567/user -d '{"panelist":true,"properties":{"first_name":{"value":"Thandi","source":"user"}}}'
  curl -X DELETE ${url}/phones/27821234567/user
  curl ${url}/events -d '{"id":"1","type":"user_data.answered","data":{"id":"REQUEST-ID","answers":{"first_name":"approved"}}}'
`;
