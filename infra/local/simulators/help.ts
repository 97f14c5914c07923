/** The help texts of the simulators: their requests, as commands for a shell. */

/** The commands for fault rules. */
const faultHelp = (url: string): string => `Set the responses to the next calls:
  curl -X PUT ${url}/behaviour -d '{"status":503,"retry_after":30,"times":2}'
  curl -X PUT ${url}/behaviour -d '{"status":500,"phone":"27821234567"}'
  curl -X PUT ${url}/behaviour -d '{"delay_ms":2000}'
  curl -X PUT ${url}/behaviour -d '{"drop":true}'    closes the connection
  curl -X PUT ${url}/behaviour -d '{"hang":true,"after":true}'    accepts the message, never responds
  curl -X PUT ${url}/behaviour -d '[{"share":0.33,"status":500},{"share":0.33,"drop":true}]'    the first rule that applies
  curl ${url}/behaviour
  curl -X DELETE ${url}/behaviour    normal responses again`;

export const appNetworkHelp = (url: string): string => `The simulated app network of the local stack.
The service posts to ${url}/app. Phones show the messages that were accepted.
With npm start, open ${url} in a browser to use a phone. The network reports delivered_to_user
by itself, and for the made-up users 99900000001, 99900000002, … also that more than half of them read a message.

Show what the service sent:
  curl ${url}/phones
  curl ${url}/phones/27821234567/messages
  curl '${url}/phones/27821234567/messages?all=true'    including messages that were never accepted
  curl ${url}/businesses    names and avatars
  curl ${url}/calls
  curl -X DELETE ${url}/calls    deletes calls and messages

${faultHelp(url)}
For one phone, without a change of the others:
  curl -X PUT ${url}/phones/27821234567/behaviour -d '{"status":503}'
  curl -X DELETE ${url}/phones/27821234567/behaviour

Show the bots whose businesses a user has stopped:
  curl ${url}/phones/27821234567/stops

Report events as the app, and print the service's response ("event_id" repeats an event):
  curl ${url}/phones/27821234567/messages -d '{"to":"BOT NUMBER","text":"Hi"}'
  curl ${url}/phones/27821234567/messages -d '{"to":"BOT NUMBER","image":{"url":"https://example.org/1.jpg","caption":"My cow"}}'    or file, audio, video
  curl ${url}/phones/27821234567/messages -d '{"to":"BOT NUMBER","location":{"latitude":-33.92,"longitude":18.42}}'
  curl ${url}/messages/MESSAGE-ID/states -d '{"state":"read"}'    or delivered_to_user, delivery_failed with "reason"
  curl ${url}/phones/27821234567/user -d '{"panelist":true,"properties":{"first_name":{"value":"Thandi","source":"user"}}}'    or "id" with a UUID
  curl -X DELETE ${url}/phones/27821234567/user
  curl -X PUT ${url}/phones/27821234567/stops/BOT-NUMBER    the user stops the business of this bot
  curl -X DELETE ${url}/phones/27821234567/stops/BOT-NUMBER    the user starts it again
  curl ${url}/requests/REQUEST-ID/answers -d '{"answers":{"first_name":"approved","last_name":"denied"}}'
  curl ${url}/requests/REQUEST-ID/withdrawals -d '{"properties":["first_name"]}'    the user withdraws the consent
  curl ${url}/events -d '[{"id":"1","type":"user.removed","data":{"phone_number":"27821234567"}}]'    any events

Set how users answer user data requests automatically (without a rule, they do not answer):
  curl -X PUT ${url}/consent -d '{"all":"approved"}'
  curl -X PUT ${url}/consent -d '{"phone":"27821234567","all":"approved","properties":{"last_name":"denied"}}'
  curl -X PUT ${url}/consent -d '[{"phone":"27821234567","properties":{"first_name":"approved"}},{"all":"denied"}]'    the first rule that applies
  curl -X DELETE ${url}/consent
`;

/** The commands that show the calls and messages of a channel or number; `platform` is the simulator's own URL. */
const channelHelp = (url: string, platform: string): string => `Show what was received and sent:
  curl ${url}/received
  curl ${url}/statuses
  curl ${url}/sent
  curl ${url}/calls    each call, with its status
  curl -X DELETE ${url}/calls    deletes all of these

${faultHelp(url)}
For all of them, the same below ${platform}:
  curl -X PUT ${platform}/behaviour -d '{"status":503}'
  curl -X DELETE ${platform}/behaviour`;

export const rapidproHelp = (url: string): string => {
  const channel = `${url}/channels/CHANNEL`;
  return `The simulated RapidPro of the local stack. CHANNEL is the name of a channel: a UUID or any other name.
The service posts messages to ${url}/c/ex/CHANNEL/receive, and reports to …/sent, …/delivered, …/failed and …/stopped.

Set up a channel; TOKEN is a token of the service (optional settings: "ids":"uuid", "max_length", "to_field":"to",
"guard_ms", "courier":"8.2.1", and "state":"inactive" or "database_down"):
  curl -X PUT ${channel} -d '{"token":"TOKEN","bot":"echo"}'    replies to users automatically
  curl -X PUT ${channel} -d '{"token":"TOKEN"}'
  curl ${url}/channels

Send to a user, optionally with quick replies or attachments. Failed attempts are retried after 5, 10 and 15 minutes:
  curl ${channel}/send -d '{"to":"27821234567","text":"Hello","quick_replies":["Yes","No"]}'
  curl ${channel}/send -d '{"to":"27821234567","text":"Look","attachments":["https://example.org/image.jpg"]}'
  curl -X POST ${channel}/messages/MESSAGE-ID/resend

Show the contacts that were stopped:
  curl ${channel}/stopped

${channelHelp(channel, url)}

Post as the service:
  curl ${url}/c/ex/CHANNEL/receive -d 'from=27821234567&text=Hi'
  curl ${url}/c/ex/CHANNEL/delivered -d 'id=1'
`;
};

export const turnHelp = (url: string): string => {
  const number = `${url}/numbers/NUMBER`;
  return `The simulated Turn of the local stack. NUMBER is the name of a number: a UUID or any other name.
The service posts messages to ${url}/v1/numbers/NUMBER/messages, and reports to …/statuses.

Set up a number; the service authenticates with "token", Turn with "bridge_token":
  curl -X PUT ${number} -d '{"token":"TURN-TOKEN","bridge_token":"TOKEN","bot":"echo"}'    replies to users automatically
  curl -X PUT ${number} -d '{"token":"TURN-TOKEN","bridge_token":"TOKEN","shape":"fallback","hmac_secret":"SECRET"}'
  curl -X PUT ${number} -d '{"token":"TURN-TOKEN","bridge_token":"TOKEN","limit":5,"refuses_failed":false}'
  curl ${url}/numbers

Send to a user:
  curl ${number}/send -d '{"to":"27821234567","text":"Hello"}'
  curl ${number}/send -d '{"to":"27821234567","image":{"link":"https://example.org/image.jpg","caption":"Look"}}'
  curl ${number}/send -d '{"to":"27821234567","document":{"link":"https://example.org/file.pdf"}}'
  curl ${number}/send -d '{"to":"27821234567","raw":{"type":"location"}}'    any body

${channelHelp(number, url)}
`;
};
