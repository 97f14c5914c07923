/** Programs that call this service. They read the token from the environment, and never contain it. */
import { verification } from '../../openapi/samples/verification.ts';

export const languages = ['curl', 'python', 'javascript'] as const;

export type Language = (typeof languages)[number];

type Snippets = Record<Language, string>;

/** A test of a simulated user, whose number belongs to nobody. */
export const SIMULATED = '99900000001';

const base = location.origin;

/** Asks for the token without an echo, so that neither the screen nor the history of the shell has it. */
export const readToken = 'read -rs TOKEN && export TOKEN';

export const sendMessage: Snippets = {
  curl: `curl "${base}/v1/message" \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: $(date +%s)-$RANDOM" \\
  -d '{"to": "${SIMULATED}", "type": "text", "text": {"body": "Good morning!"}}'`,
  python: `# pip install requests
import os
import uuid

import requests

response = requests.post(
    "${base}/v1/message",
    headers={"Authorization": "Bearer " + os.environ["TOKEN"], "Idempotency-Key": str(uuid.uuid4())},
    json={"to": "${SIMULATED}", "type": "text", "text": {"body": "Good morning!"}},
    timeout=60,
)
if not response.ok:
    raise SystemExit(f"{response.status_code} {response.text}")
print(response.json()["id"])`,
  javascript: `import { randomUUID } from 'node:crypto';

const response = await fetch('${base}/v1/message', {
  method: 'POST',
  headers: {
    Authorization: 'Bearer ' + process.env.TOKEN,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
  },
  body: JSON.stringify({ to: '${SIMULATED}', type: 'text', text: { body: 'Good morning!' } }),
});
if (!response.ok) throw new Error(response.status + ' ' + (await response.text()));
console.log((await response.json()).id);`,
};

export const readJob: Snippets = {
  curl: `curl "${base}/v1/jobs/$JOB_ID" -H "Authorization: Bearer $TOKEN"`,
  python: `# pip install requests
import os

import requests

response = requests.get(
    "${base}/v1/jobs/" + os.environ["JOB_ID"],
    headers={"Authorization": "Bearer " + os.environ["TOKEN"]},
    timeout=60,
)
if not response.ok:
    raise SystemExit(f"{response.status_code} {response.text}")
print(response.json())`,
  javascript: `const response = await fetch('${base}/v1/jobs/' + process.env.JOB_ID, {
  headers: { Authorization: 'Bearer ' + process.env.TOKEN },
});
if (!response.ok) throw new Error(response.status + ' ' + (await response.text()));
console.log(await response.json());`,
};

const verifying = (label: string): string => verification.find((one) => one.label === label)?.source.trimEnd() ?? '';

export const receiveEvents: Snippets = {
  curl: verifying('openssl'),
  python: verifying('Python'),
  javascript: verifying('JavaScript'),
};

/** Writes to the account's bot as a user would. */
export const writeToBot = (bot: string): string => `curl "$BRIDGE_URL/webhook/${bot}" \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"message": {"type": "text", "from": "${SIMULATED}", "text": {"body": "Hello"}}}'`;
