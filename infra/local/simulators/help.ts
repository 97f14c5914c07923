/** What simulators say about themselves: each of their requests, to be pasted into a shell. */

/** The ways to say how calls are answered, at this address. */
const faultHelp = (url: string): string => `Say how calls are answered from now on:
  curl -X PUT ${url}/behaviour -d '{"status":503,"retry_after":30,"times":2}'
  curl -X PUT ${url}/behaviour -d '{"status":500,"phone":"27821234567"}'
  curl -X PUT ${url}/behaviour -d '{"delay_ms":2000}'
  curl -X PUT ${url}/behaviour -d '{"drop":true}'    closes the connection
  curl -X PUT ${url}/behaviour -d '{"hang":true,"after":true}'    takes the message, never answers
  curl -X PUT ${url}/behaviour -d '[{"share":0.33,"status":500},{"share":0.33,"drop":true}]'    the first that applies
  curl ${url}/behaviour
  curl -X DELETE ${url}/behaviour    back to normal`;

export const appNetworkHelp = (url: string): string => `The simulated app network of the local stack.
The service sends to ${url}/app; what was taken is shown on phones.
With npm start, a browser shows them at ${url}: there you are the user.

See what came:
  curl ${url}/phones
  curl ${url}/phones/27821234567/messages
  curl '${url}/phones/27821234567/messages?all=true'    with what was never taken
  curl ${url}/calls
  curl -X DELETE ${url}/calls    forgets calls and messages

${faultHelp(url)}

Speak for the app; the answer is the service's ("event_id" repeats an event):
  curl ${url}/phones/27821234567/messages -d '{"to":"BOT NUMBER","text":"Hi"}'
  curl ${url}/messages/MESSAGE-ID/states -d '{"state":"read"}'    or delivered_to_user, delivery_failed with "reason"
  curl ${url}/phones/27821234567/user -d '{"panelist":true,"properties":{"first_name":{"value":"Thandi","source":"user"}}}'
  curl -X DELETE ${url}/phones/27821234567/user
  curl ${url}/requests/REQUEST-ID/answers -d '{"answers":{"first_name":"approved","last_name":"denied"}}'
  curl ${url}/events -d '[{"id":"1","type":"user.removed","data":{"phone_number":"27821234567"}}]'    any events

Say how users answer user data requests by themselves (nobody does who is told nothing):
  curl -X PUT ${url}/consent -d '{"all":"approved"}'
  curl -X PUT ${url}/consent -d '{"phone":"27821234567","all":"approved","properties":{"last_name":"denied"}}'
  curl -X PUT ${url}/consent -d '[{"phone":"27821234567","properties":{"first_name":"approved"}},{"all":"denied"}]'    the first that applies
  curl -X DELETE ${url}/consent
`;

/** The ways to look into a line, at this address. */
const lineHelp = (url: string): string => `See what came, and what was sent:
  curl ${url}/received
  curl ${url}/statuses
  curl ${url}/sent
  curl ${url}/calls    each call, with what it was answered
  curl -X DELETE ${url}/calls    forgets all of that

${faultHelp(url)}`;

export const rapidproHelp = (url: string): string => {
  const channel = `${url}/channels/CHANNEL`;
  return `The simulated RapidPro of the local stack. CHANNEL stands for a channel's name: a UUID, or any other.
The service brings messages to ${url}/c/ex/CHANNEL/receive, and reports to …/sent, …/delivered, …/failed and …/stopped.

Set up a channel; TOKEN is the service's ("ids":"uuid", "max_length", "to_field":"to", "guard_ms", "courier":"8.2.1" and
"state":"inactive" or "database_down" are other choices):
  curl -X PUT ${channel} -d '{"token":"TOKEN","bot":"echo"}'    answers users by itself
  curl -X PUT ${channel} -d '{"token":"TOKEN"}'
  curl ${url}/channels

Send to a user, with quick replies or attachments perhaps; failed attempts are repeated 5, 10 and 15 minutes later:
  curl ${channel}/send -d '{"to":"27821234567","text":"Hello","quick_replies":["Yes","No"]}'
  curl ${channel}/send -d '{"to":"27821234567","text":"Look","attachments":["https://example.org/image.jpg"]}'
  curl -X POST ${channel}/messages/MESSAGE-ID/resend

See who was stopped:
  curl ${channel}/stopped

${lineHelp(channel)}

Speak for the service:
  curl ${url}/c/ex/CHANNEL/receive -d 'from=27821234567&text=Hi'
  curl ${url}/c/ex/CHANNEL/delivered -d 'id=1'
`;
};

export const turnHelp = (url: string): string => {
  const number = `${url}/numbers/NUMBER`;
  return `The simulated Turn of the local stack. NUMBER stands for a number's name: a UUID, or any other.
The service brings messages to ${url}/v1/numbers/NUMBER/messages, and reports to …/statuses.

Set up a number; "token" is what the service brings, "bridge_token" the service's own:
  curl -X PUT ${number} -d '{"token":"TURN-TOKEN","bridge_token":"TOKEN","bot":"echo"}'    answers users by itself
  curl -X PUT ${number} -d '{"token":"TURN-TOKEN","bridge_token":"TOKEN","shape":"fallback","hmac_secret":"SECRET"}'
  curl -X PUT ${number} -d '{"token":"TURN-TOKEN","bridge_token":"TOKEN","limit":5,"refuses_failed":false}'
  curl ${url}/numbers

Send to a user:
  curl ${number}/send -d '{"to":"27821234567","text":"Hello"}'
  curl ${number}/send -d '{"to":"27821234567","image":{"link":"https://example.org/image.jpg","caption":"Look"}}'
  curl ${number}/send -d '{"to":"27821234567","document":{"link":"https://example.org/file.pdf"}}'
  curl ${number}/send -d '{"to":"27821234567","raw":{"type":"location"}}'    any body

${lineHelp(number)}
`;
};
