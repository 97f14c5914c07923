/** The events of the app that `operator trigger` creates, with the fields of the API description as options. */
import type { StackFile } from '../local-stack/stack-file.ts';
import { UserError } from '../queries/accounts-admin.ts';

/** The options of the command: fields of the events. */
export interface EventFields {
  from?: string;
  to?: string;
  text?: string;
  id?: string;
  reason?: string;
  phoneNumber?: string;
  panelist?: boolean;
  /** Names of properties; `NAME=VALUE` for a profile. */
  property?: string[];
}

export type FieldName = keyof EventFields;

/** What events need of the running stack. */
export interface Source {
  stack: Pick<StackFile, 'panelist' | 'bot_phone_number'>;
  /** The id of the last message that a user's phone shows. */
  lastMessage: (phone: string) => Promise<string | undefined>;
  /** The last user data request on a user's phone, with the names of its properties. */
  lastRequest: (phone: string) => Promise<{ id: string; properties: string[] } | undefined>;
}

interface AppEventKind {
  type: string;
  /** What happens, for the help. */
  says: string;
  fields: FieldName[];
  dataOf: (fields: EventFields, source: Source) => object | Promise<object>;
}

const userOf = ({ from, phoneNumber }: EventFields, { stack }: Source): string => from ?? phoneNumber ?? stack.panelist;

const between = (fields: EventFields, source: Source) => ({
  from: userOf(fields, source),
  to: fields.to ?? source.stack.bot_phone_number,
});

const messageOf = async (fields: EventFields, source: Source): Promise<string> => {
  const phone = userOf(fields, source);
  const id = fields.id ?? (await source.lastMessage(phone));
  if (id === undefined) throw new UserError(`The phone of ${phone} shows no message: send one, or name one with --id.`);
  return id;
};

/** The request, and the properties that are named, or all of the last request. */
const requestOf = async (fields: EventFields, source: Source): Promise<{ id: string; properties: string[] }> => {
  const phone = userOf(fields, source);
  const last = await source.lastRequest(phone);
  const id = fields.id ?? last?.id;
  const properties = fields.property ?? (last?.id === id ? last?.properties : undefined);
  if (id === undefined) {
    throw new UserError(`The phone of ${phone} has no user data request: start one, or name one with --id.`);
  }
  if (properties === undefined) throw new UserError('Name the properties of this request with --property.');
  return { id, properties };
};

const state = (name: string, says: string, more: FieldName[] = []): AppEventKind => ({
  type: 'message.state',
  says,
  fields: ['id', 'from', ...more],
  dataOf: async (fields, source) => ({
    id: await messageOf(fields, source),
    state: name,
    ...(fields.reason !== undefined && { reason: fields.reason }),
  }),
});

const answer = (given: 'approved' | 'denied', says: string): AppEventKind => ({
  type: 'user_data.answered',
  says,
  fields: ['id', 'from', 'property'],
  dataOf: async (fields, source) => {
    const { id, properties } = await requestOf(fields, source);
    return { id, answers: Object.fromEntries(properties.map((property) => [property, given])) };
  },
});

/** `NAME=VALUE`, as a property of a profile that the user has entered. */
const profileOf = (property: string[] | undefined): object => {
  if (property === undefined) return {};
  const pairs = property.map((one) => {
    const [name = '', ...value] = one.split('=');
    if (value.length === 0) throw new UserError(`--property ${name} needs a value: --property ${name}=VALUE.`);
    return [name, { value: value.join('='), source: 'user' }];
  });
  return { properties: Object.fromEntries(pairs) };
};

export const appEvents: Record<string, AppEventKind> = {
  'user-writes': {
    type: 'message.received',
    says: 'a user writes to a business',
    fields: ['from', 'to', 'text'],
    dataOf: (fields, source) => ({ ...between(fields, source), type: 'text', text: { body: fields.text ?? 'Hello' } }),
  },
  'message-delivered': state('delivered_to_user', 'a message arrives on the phone'),
  'message-read': state('read', 'a user reads a message'),
  'message-failed': state('delivery_failed', 'a message does not arrive on the phone', ['reason']),
  'user-updated': {
    type: 'user.updated',
    says: 'a user registers, or changes the profile',
    fields: ['phoneNumber', 'id', 'panelist', 'property'],
    dataOf: (fields, source) => ({
      phone_number: userOf(fields, source),
      ...(fields.id !== undefined && { id: fields.id }),
      ...(fields.panelist !== undefined && { panelist: fields.panelist }),
      ...profileOf(fields.property),
    }),
  },
  'user-removed': {
    type: 'user.removed',
    says: 'a user leaves the app, which erases the user',
    fields: ['phoneNumber'],
    dataOf: (fields, source) => ({ phone_number: userOf(fields, source) }),
  },
  'user-stopped': {
    type: 'user.stopped',
    says: 'a user stops a business',
    fields: ['from', 'to'],
    dataOf: between,
  },
  'user-started': {
    type: 'user.started',
    says: 'a user starts a business again',
    fields: ['from', 'to'],
    dataOf: between,
  },
  'consent-approved': answer('approved', 'a user approves what a business asks for'),
  'consent-denied': answer('denied', 'a user denies it'),
  'consent-withdrawn': {
    type: 'user_data.withdrawn',
    says: 'a user withdraws consent',
    fields: ['id', 'from', 'property'],
    dataOf: (fields, source) => requestOf(fields, source),
  },
};
