/**
 * What a person enters on the other side to connect a chat platform, field by field: `operator connect` and the
 * documentation show these rows.
 *
 * Sources: RapidPro's form of an External API channel (rapidpro/rapidpro, temba/channels/types/external/views.py), and
 * "Turn Channel API" (whatsapp.turn.io/docs/api/channel_api).
 */
import type { PlatformName } from '../../../shared/accounts/platform-settings.ts';

/** The values of one connection. The documentation passes placeholders, such as `BRIDGE_URL` and `TOKEN`. */
export interface ConnectValues {
  /** The URL of the bridge host, without a slash at the end. */
  bridgeUrl: string;
  /** A token of the account with the permission `bridge`. */
  token: string;
  /** The token in base64url without padding: `encodeToken(token)`, or a placeholder. */
  encodedToken: string;
  /** The bot's number, without +. */
  botNumber: string;
  /** The name of the business. */
  name: string;
  /** RapidPro's Max length in bytes. Default: 4096. */
  maxLength?: string;
  /** The secret that signs requests to a plain webhook: only if it was created now, because it is shown once. */
  secret?: string;
}

/** A field of the platform's form. */
export interface ConnectField {
  /** The field as the platform names it. */
  field: string;
  /** What to enter or to choose; empty if the field stays empty. */
  value: string;
  /** Whether the value is a secret, or contains one. */
  secret?: true;
  /** What a person may wonder about the field. One or two sentences. */
  note?: string;
}

/** A setting that the platform shows after its form is saved, and that the service needs. */
interface PlatformAnswer {
  /** The name of the setting: the option is `--platform-` and this name, with hyphens. */
  setting: string;
  label: string;
  /** Where a person finds it. */
  where: string;
  /** An example, which is not valid. Empty for secrets. */
  example: string;
  required: boolean;
  secret?: true;
}

/** How to connect one platform. */
export interface ConnectGuide {
  /** The platform's name for people. */
  title: string;
  /** What the fields belong to: `Add channel: External API`. */
  form: string;
  /** Where to click, in order; each step is a sentence. */
  steps: string[];
  /** The fields of the form, in its order, with those that stay empty. */
  fields(values: ConnectValues): ConnectField[];
  /** What the platform then shows. */
  answers: PlatformAnswer[];
  /** Whether the platform calls the service, and so needs a token of the account. */
  callsService: boolean;
}

/** RapidPro's Max length, if a person chooses no other: the longest text of a message. */
export const DEFAULT_MAX_LENGTH = '4096';

/** A token as it is part of Turn's URL: base64url without padding. */
export const encodeToken = (token: string): string => Buffer.from(token).toString('base64url');

const rapidpro: ConnectGuide = {
  title: 'RapidPro',
  form: 'Add channel: External API',
  steps: [
    'Open Settings, then Add Channel.',
    'Choose External API.',
    'Enter the values. Leave the other fields as they are.',
    'Save. RapidPro shows the receive URL.',
  ],
  fields: ({ bridgeUrl, token, botNumber, maxLength = DEFAULT_MAX_LENGTH }) => [
    { field: 'URN type', value: 'Phone number' },
    { field: 'Number', value: botNumber },
    { field: 'Country', value: '' },
    { field: 'Method', value: 'HTTP POST', note: 'The service rejects GET and PUT.' },
    { field: 'Encoding', value: 'Default Encoding' },
    { field: 'Content type', value: 'URL Encoded', note: 'The service rejects JSON and XML.' },
    {
      field: 'Max length',
      value: maxLength,
      note: 'In bytes, not characters. RapidPro splits longer texts.',
    },
    {
      field: 'Authorization header value',
      value: token,
      secret: true,
      note: 'The token alone, without "Bearer" or "Token" before it.',
    },
    {
      field: 'Send URL',
      value: `${bridgeUrl}/v1/webhook/rapidpro/`,
    },
    {
      field: 'Request body',
      value: 'id={{id}}&text={{text}}&to_no_plus={{to_no_plus}}{{quick_replies}}',
      note: 'Replaces the body that the form suggests, which has no quick replies.',
    },
    {
      field: 'MT Response check',
      value: '',
    },
  ],
  answers: [
    {
      setting: 'url',
      label: 'Receive URL',
      where: 'RapidPro shows it on the page of the channel after you save the form. It ends with /receive.',
      example: 'https://HOST/c/ex/CHANNEL/receive',
      required: true,
    },
  ],
  callsService: true,
};

const turn: ConnectGuide = {
  title: 'Turn',
  form: 'POST https://whatsapp.turn.io/v1/numbers',
  steps: [
    'In Turn, open Settings, then API & Webhooks, of a number that you already have, and create an authentication token.',
    'With that token, create the channel by a POST to /v1/numbers with these fields as JSON. If the channel exists, set its endpoint to the URL instead.',
    'Copy uuid and hmac_secret from the response.',
    'Select the new channel in Turn, open Settings, then API & Webhooks, and create its own authentication token.',
  ],
  fields: ({ bridgeUrl, encodedToken, botNumber, name }) => [
    { field: 'backend_type', value: 'channel' },
    { field: 'number_type', value: 'channel_http_api' },
    { field: 'from_addr', value: botNumber },
    { field: 'name', value: name },
    {
      field: 'endpoint',
      value: `${bridgeUrl}/v1/webhook/turn/${encodedToken}`,
      secret: true,
      note: 'The URL contains the encoded token, because Turn sends no Authorization header of ours. Treat it as a secret.',
    },
  ],
  answers: [
    {
      setting: 'channel',
      label: 'Channel UUID',
      where: 'In the response to the request that created the channel: number.uuid.',
      example: '8c1a9f0e-4e0b-4c43-9c3f-1f1f0d6f3f5e',
      required: true,
    },
    {
      setting: 'token',
      label: "Turn's authentication token",
      where: 'In Turn, in Settings, API & Webhooks, of the channel.',
      example: '',
      required: true,
      secret: true,
    },
    {
      setting: 'hmac_secret',
      label: 'HMAC secret',
      where: 'In the response to the request that created the channel: webhook.hmac_secret.',
      example: '',
      required: false,
      secret: true,
    },
  ],
  callsService: true,
};

const webhook: ConnectGuide = {
  title: 'the webhook',
  form: 'Your own server',
  steps: [
    'Write an endpoint that accepts a POST with JSON, and returns 2xx within 10 seconds.',
    'Verify the signature of each request by Standard Webhooks, with the secret.',
    'Reply to users with POST /v1/message of the API.',
  ],
  fields: ({ secret }) =>
    secret === undefined
      ? []
      : [
          {
            field: 'Signing secret',
            value: secret,
            secret: true,
            note: 'Your server verifies requests with it. The service sends it nowhere.',
          },
        ],
  answers: [
    {
      setting: 'url',
      label: 'URL of your endpoint',
      where: 'The public https URL of your server.',
      example: 'https://example.com/messages',
      required: true,
    },
  ],
  callsService: false,
};

/** The guides by platform. */
export const connectGuides: Record<PlatformName, ConnectGuide> = { rapidpro, turn, webhook };
